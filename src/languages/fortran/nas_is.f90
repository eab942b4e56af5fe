! SPDX-License-Identifier: BSD-3-Clause
! NAS IS with coarrays: each image takes the keys of its values from the others, and counts.
module is_kernel
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use samples, only: kernel, step, power, begins, sum_all, multiplier
  implicit none
  private
  public :: is

  integer, parameter :: iterations = 10, buckets = 1024
  integer, parameter :: log2_keys(5) = [16, 20, 23, 25, 27], log2_range(5) = [11, 16, 19, 21, 23]
  integer, parameter :: places(5, 5) = reshape([ &
    48427, 17148, 23627, 62548, 4431, 357773, 934767, 875723, 898999, 404505, &
    2112377, 662041, 5336171, 3642833, 4250760, 41869, 812306, 5102857, 18232239, 26860214, &
    44172927, 72999161, 74326391, 129606274, 21736814], [5, 5])
  integer, parameter :: ranks(5, 5) = reshape([ &
    0, 18, 346, 64917, 65463, 1249, 11698, 1039987, 1043896, 1048018, &
    104, 17523, 123928, 8288932, 8388264, 33422937, 10244, 59149, 33135281, 99, &
    61147, 882988, 266290, 133997595, 133525895], [5, 5])
  ! A rank moves by sign * (iteration + shift).
  integer, parameter :: signs(5, 5) = reshape([1, 1, 1, -1, -1, 1, 1, -1, -1, -1, &
    1, 1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, -1], [5, 5])
  integer, parameter :: shifts(5, 5) = reshape([0, 0, 0, 0, 0, -2, -2, 0, 0, 0, &
    -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [5, 5])

  type, extends(kernel) :: is
    integer :: class, range, shift, low, values
    integer(int64) :: total, first, before
    integer(int32), allocatable :: keys(:), made(:), got(:), up_to(:)
    real(real64) :: passed
  contains
    procedure :: open => open_is
    procedure :: warm
    procedure :: run
    procedure :: departure
  end type is

  ! Keys by bucket, and where the buckets begin, for other images to take.
  integer(int32), allocatable :: sorted(:)[:], starts(:)[:]

contains

  subroutine open_is(self, class)
    class(is), intent(inout) :: self
    integer, intent(in) :: class
    integer(int64) :: x, i, count, most
    integer :: j
    real(real64) :: number
    self%name = 'is'
    self%class = class
    self%total = 2_int64**log2_keys(class)
    self%range = 2**log2_range(class)
    self%shift = max(0, log2_range(class) - 10)
    self%mop = 1e-6_real64 * real(self%total, real64) * iterations
    self%first = begins(self%total, this_image() - 1, num_images())
    count = begins(self%total, this_image(), num_images()) - self%first
    most = self%total / num_images() + 1
    allocate (self%keys(0:count - 1))
    allocate (sorted(most)[*], starts(0:buckets)[*])
    x = step(314159265_int64, power(4 * self%first))
    do i = 0, count - 1
      number = 0
      do j = 1, 4
        x = step(x, multiplier)
        number = number + real(x, real64) * 2.0_real64**(-46)
      end do
      self%keys(i) = int(number * (self%range / 4), int32)
    end do
    self%made = self%keys(0:min(count - 1, 2_int64 * iterations))
  end subroutine open_is

  subroutine change(self, iteration)
    class(is), intent(inout) :: self
    integer, intent(in) :: iteration
    integer(int64) :: at
    at = iteration - self%first
    if (at >= 0 .and. at < size(self%keys)) self%keys(at) = iteration
    at = at + iterations
    if (at >= 0 .and. at < size(self%keys)) self%keys(at) = self%range - iteration
  end subroutine change

  subroutine sort_buckets(self)
    class(is), intent(inout) :: self
    integer :: i, b, next(0:buckets - 1)
    next = 0
    do i = 0, size(self%keys) - 1
      b = ishft(self%keys(i), -self%shift)
      next(b) = next(b) + 1
    end do
    starts(0) = 0
    do b = 0, buckets - 1
      starts(b + 1) = starts(b) + next(b)
      next(b) = starts(b)
    end do
    do i = 0, size(self%keys) - 1
      b = ishft(self%keys(i), -self%shift)
      next(b) = next(b) + 1
      sorted(next(b)) = self%keys(i)
    end do
  end subroutine sort_buckets

  ! Assigns buckets to this image, from the number of keys of all images in each.
  subroutine choose_buckets(self, counts, own)
    class(is), intent(inout) :: self
    real(real64), intent(in) :: counts(0:)
    integer, intent(out) :: own(2) ! the first, and the one behind the last
    integer(int64) :: below
    integer :: b, owner
    below = 0
    own = [buckets, 0]
    self%before = 0
    do b = 0, buckets - 1
      owner = int(min(int(num_images() - 1, int64), below * num_images() / self%total))
      if (owner == this_image() - 1) then
        if (own(1) == buckets) self%before = below
        own = [min(own(1), b), b + 1]
      end if
      below = below + int(counts(b), int64)
    end do
    if (own(2) == 0) own = 0
    self%low = ishft(own(1), self%shift)
    self%values = ishft(own(2) - own(1), self%shift)
  end subroutine choose_buckets

  subroutine take_keys(self, own)
    class(is), intent(inout) :: self
    integer, intent(in) :: own(2)
    integer :: i, from(num_images()), to(num_images()), at
    do i = 1, num_images()
      from(i) = starts(own(1))[i]
      to(i) = starts(own(2))[i]
    end do
    if (allocated(self%got)) then
      if (size(self%got) /= sum(to - from)) deallocate (self%got)
    end if
    if (.not. allocated(self%got)) allocate (self%got(sum(to - from)))
    at = 0
    do i = 1, num_images()
      if (to(i) > from(i)) self%got(at + 1:at + to(i) - from(i)) = sorted(from(i) + 1:to(i))[i]
      at = at + to(i) - from(i)
    end do
  end subroutine take_keys

  subroutine count_values(self)
    class(is), intent(inout) :: self
    integer :: i, v
    if (allocated(self%up_to)) then
      if (size(self%up_to) /= self%values) deallocate (self%up_to)
    end if
    if (.not. allocated(self%up_to)) allocate (self%up_to(0:self%values - 1))
    self%up_to = 0
    do i = 1, size(self%got)
      v = self%got(i) - self%low
      self%up_to(v) = self%up_to(v) + 1
    end do
    do v = 1, self%values - 1
      self%up_to(v) = self%up_to(v) + self%up_to(v - 1)
    end do
  end subroutine count_values

  subroutine rank_keys(self, iteration)
    class(is), intent(inout) :: self
    integer, intent(in) :: iteration
    real(real64) :: mine(buckets + 5), both(buckets + 5)
    integer :: i, at, own(2)
    integer(int64) :: place, less
    call change(self, iteration)
    call sort_buckets(self)
    mine = 0
    mine(:buckets) = starts(1:) - starts(:buckets - 1)
    do i = 1, 5
      place = places(i, self%class) - self%first
      if (place >= 0 .and. place < size(self%keys)) mine(buckets + i) = self%keys(place)
    end do
    both = sum_all(mine) ! all images have sorted when any has the sum
    call choose_buckets(self, both(:buckets), own)
    call take_keys(self, own)
    call count_values(self)
    do i = 1, 5
      at = int(both(buckets + i)) - self%low
      if (at < 0 .or. at >= self%values) cycle
      less = self%before
      if (at > 0) less = less + self%up_to(at - 1)
      if (less == ranks(i, self%class) + signs(i, self%class) * (iteration + &
        shifts(i, self%class))) self%passed = self%passed + 1
    end do
    sync all ! nobody sorts anew while another takes keys
  end subroutine rank_keys

  subroutine iterate(self, most)
    class(is), intent(inout) :: self
    integer, intent(in) :: most
    integer :: i
    self%passed = 0
    self%keys(0:size(self%made) - 1) = self%made
    do i = 1, most
      call rank_keys(self, i)
    end do
  end subroutine iterate

  subroutine warm(self)
    class(is), intent(inout) :: self
    call iterate(self, 1)
  end subroutine warm

  subroutine run(self)
    class(is), intent(inout) :: self
    call iterate(self, iterations)
  end subroutine run

  ! Puts every key at the place of its rank, and compares it with its neighbour.
  real(real64) function departure(self)
    class(is), intent(inout) :: self
    integer(int32), allocatable :: list(:), next(:)
    real(real64) :: all(3), wrong
    integer :: i, v
    allocate (list(size(self%got)), next(0:self%values - 1))
    list = -1
    next = self%up_to
    do i = 1, size(self%got)
      v = self%got(i) - self%low
      list(next(v)) = self%got(i)
      next(v) = next(v) - 1
    end do
    wrong = count(list < 0)
    do i = 2, size(list)
      if (list(i) < list(i - 1)) wrong = wrong + 1
    end do
    all = sum_all([wrong, real(size(self%got), real64), self%passed])
    departure = huge(departure)
    if (all(2) == self%total .and. all(3) == 5 * iterations) departure = all(1)
  end function departure
end module is_kernel

program nas_is
  use is_kernel, only: is
  use samples, only: measure
  implicit none
  type(is) :: this
  call measure(this)
end program nas_is
