! SPDX-License-Identifier: BSD-3-Clause
! NAS EP with coarrays: Gaussian deviates; the images add up their sums at the end.
module ep_kernel
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use samples, only: kernel, step, power, begins, sum_all, multiplier
  implicit none
  private
  public :: ep

  integer, parameter :: chunk = 1024 ! pairs, which stay in the first cache
  integer, parameter :: log2_pairs(5) = [24, 25, 28, 30, 32]
  real(real64), parameter :: published(2, 5) = reshape([ &
    -3.247834652034740e3_real64, -6.958407078382297e3_real64, &
    -2.863319731645753e3_real64, -6.320053679109499e3_real64, &
    -4.295875165629892e3_real64, -1.580732573678431e4_real64, &
    4.033815542441498e4_real64, -2.660669192809235e4_real64, &
    4.764367927995374e4_real64, -8.084072988043731e4_real64], [2, 5])

  type, extends(kernel) :: ep
    integer :: class
    real(real64) :: sums(12) ! of x, of y, pairs in each of ten annuli
  contains
    procedure :: open => open_ep
    procedure :: warm
    procedure :: run
    procedure :: departure
  end type ep

contains

  subroutine open_ep(self, class)
    class(ep), intent(inout) :: self
    integer, intent(in) :: class
    self%name = 'ep'
    self%class = class
    self%mop = 2e-6_real64 * 2.0_real64**log2_pairs(class)
  end subroutine open_ep

  subroutine add_chunk(number, sums)
    integer(int64), intent(in) :: number
    real(real64), intent(inout) :: sums(12)
    real(real64) :: numbers(2, chunk), square, scale, u, v
    integer(int64) :: x
    integer :: i, j
    x = step(271828183_int64, power(2 * number * chunk))
    do i = 1, chunk
      do j = 1, 2
        x = step(x, multiplier)
        numbers(j, i) = 2 * (real(x, real64) * 2.0_real64**(-46)) - 1
      end do
    end do
    do i = 1, chunk
      square = numbers(1, i)**2 + numbers(2, i)**2
      if (square <= 1) then
        scale = sqrt(-2 * log(square) / square)
        u = numbers(1, i) * scale
        v = numbers(2, i) * scale
        sums(1) = sums(1) + u
        sums(2) = sums(2) + v
        j = 3 + int(max(abs(u), abs(v)))
        sums(j) = sums(j) + 1
      end if
    end do
  end subroutine add_chunk

  subroutine count(self, chunks)
    class(ep), intent(inout) :: self
    integer(int64), intent(in) :: chunks
    integer(int64) :: number
    real(real64) :: sums(12)
    sums = 0
    do number = begins(chunks, this_image() - 1, num_images()), &
      begins(chunks, this_image(), num_images()) - 1
      call add_chunk(number, sums)
    end do
    self%sums = sum_all(sums)
  end subroutine count

  subroutine warm(self)
    class(ep), intent(inout) :: self
    call count(self, 64_int64 * num_images())
  end subroutine warm

  subroutine run(self)
    class(ep), intent(inout) :: self
    call count(self, 2_int64**log2_pairs(self%class) / chunk)
  end subroutine run

  real(real64) function departure(self)
    class(ep), intent(inout) :: self
    real(real64) :: n, circle, lost
    n = 2.0_real64**log2_pairs(self%class)
    circle = atan(1.0_real64)
    lost = abs(sum(self%sums(3:)) - n * circle) / (6 * sqrt(n * circle * (1 - circle)))
    departure = max(lost, &
      maxval(abs(self%sums(1:2) / published(:, self%class) - 1)) / 1e-8_real64)
  end function departure
end module ep_kernel

program nas_ep
  use ep_kernel, only: ep
  use samples, only: measure
  implicit none
  type(ep) :: this
  call measure(this)
end program nas_ep
