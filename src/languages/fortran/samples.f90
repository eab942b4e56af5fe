! SPDX-License-Identifier: BSD-3-Clause
! Runs a NAS kernel of this folder and writes its samples; docs/data.md has the format.
module samples
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  private
  public :: kernel, measure, step, power, begins, sum_all, multiplier

  integer(int64), parameter :: multiplier = 1220703125_int64
  integer(int64), parameter :: mask = 70368744177663_int64 ! 2^46 - 1

  ! A kernel of one class. `departure` is the result's, over what is allowed.
  type, abstract :: kernel
    character(2) :: name
    real(real64) :: mop
  contains
    procedure(open_kernel), deferred :: open
    procedure(run_kernel), deferred :: warm
    procedure(run_kernel), deferred :: run
    procedure(judge_kernel), deferred :: departure
  end type kernel

  abstract interface
    subroutine open_kernel(self, class)
      import :: kernel
      class(kernel), intent(inout) :: self
      integer, intent(in) :: class ! 1 to 5: S, W, A, B, C
    end subroutine open_kernel
    subroutine run_kernel(self)
      import :: kernel
      class(kernel), intent(inout) :: self
    end subroutine run_kernel
    real(real64) function judge_kernel(self)
      import :: kernel, real64
      class(kernel), intent(inout) :: self
    end function judge_kernel
  end interface

contains

  subroutine fail(text)
    character(*), intent(in) :: text
    if (this_image() == 1) write (error_unit, '(2a)') 'error: ', text
    error stop 1
  end subroutine fail

  function word(number) result(text)
    integer, intent(in) :: number
    character(256) :: text
    call get_command_argument(number, text)
  end function word

  subroutine measure(this)
    class(kernel), intent(inout) :: this
    integer :: class, runs, i, unit, status
    integer(int64) :: from, to, rate
    real(real64) :: time, departure
    character(256) :: text
    text = word(1)
    class = index('SWABC', trim(text))
    if (command_argument_count() /= 4 .or. class == 0 .or. len_trim(text) /= 1 &
        .or. word(2) /= '1') call fail('usage: PROGRAM S|W|A|B|C 1 RUNS FILE (one thread)')
    text = word(3)
    read (text, *, iostat=status) runs
    if (status /= 0) call fail('RUNS must be a number')
    call this%open(class)
    call this%warm()
    if (this_image() == 1) then
      open (newunit=unit, file=trim(word(4)), action='write', iostat=status)
      if (status /= 0) call fail('cannot write '//trim(word(4)))
      write (unit, '(a)') '# cotejo-samples/1', &
        'operation,bytes,repetition,calls,time_s,valid,threads,mop,rate_mops'
    end if
    do i = 0, runs - 1
      sync all
      call system_clock(from, rate)
      call this%run()
      call system_clock(to)
      time = greatest(real(to - from, real64) / real(rate, real64))
      departure = this%departure()
      if (.not. departure <= 1) then
        if (this_image() == 1) close (unit, status='delete')
        call fail('wrong result: '//this%name//' departs from the published one')
      end if
      if (this_image() == 1) then
        write (unit, '(5a,i0,a,es16.10,a,es16.10,a,es16.10)') 'nas-', this%name, '-', &
          trim(word(1)), ',0,', i, ',1,', time, ',1,1,', this%mop, ',', this%mop / time
      end if
    end do
    if (this_image() == 1) close (unit)
    sync all
  end subroutine measure

  ! The factor that jumps n steps of the generator at once.
  pure integer(int64) function power(n)
    integer(int64), intent(in) :: n
    integer(int64) :: base, left
    power = 1
    base = multiplier
    left = n
    do while (left > 0)
      if (iand(left, 1_int64) == 1) power = step(power, base)
      base = step(base, base)
      left = left / 2
    end do
  end function power

  ! x a mod 2^46, in halves of 23 bits: no product overflows, which Fortran would not define.
  elemental integer(int64) function step(x, a)
    integer(int64), intent(in) :: x, a
    integer(int64), parameter :: half = 8388607_int64
    integer(int64) :: middle
    middle = iand(ishft(x, -23) * iand(a, half) + iand(x, half) * ishft(a, -23), half)
    step = iand(ishft(middle, 23) + iand(x, half) * iand(a, half), mask)
  end function step

  ! The first of n items in part `i` (from 0) of `parts`.
  pure integer(int64) function begins(n, i, parts)
    integer(int64), intent(in) :: n
    integer, intent(in) :: i, parts
    begins = n * i / parts
  end function begins

  ! Sums over all images, element by element.
  function sum_all(mine) result(total)
    real(real64), intent(in) :: mine(:)
    real(real64) :: total(size(mine))
    real(real64), allocatable, save :: shared(:)[:]
    integer :: i
    if (allocated(shared)) then
      if (size(shared) /= size(mine)) deallocate (shared)
    end if
    if (.not. allocated(shared)) allocate (shared(size(mine))[*])
    shared = mine
    sync all
    total = 0
    do i = 1, num_images()
      total = total + shared(:)[i]
    end do
    sync all
  end function sum_all

  real(real64) function greatest(mine)
    real(real64), intent(in) :: mine
    real(real64), save :: shared[*]
    integer :: i
    shared = mine
    sync all
    greatest = mine
    do i = 1, num_images()
      greatest = max(greatest, shared[i])
    end do
    sync all
  end function greatest
end module samples
