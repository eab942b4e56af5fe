# SPDX-License-Identifier: BSD-3-Clause
# LogP, overlap and the eager limit.
launch(overlap 2 "${bounds}"
  "logp --sizes 0,1,1000,100k"
  "logp --sizes 1,100k --mode synchronous"
  "logp --sizes 1,100k --mode synchronous --blocking yes"
  "logp --sizes 1,100k --mode synchronous --blocking yes --receive nonblocking"
  "logp --sizes 1,100k --receive blocking"
  "overlap --pattern pingpong --sizes 0,1000,100k --steps 3"
  "overlap --pattern pingpong --sizes 1,100k --steps 3 --mode synchronous --blocking yes"
  "overlap --pattern gap-send --sizes 0,1000,100k --steps 3"
  "overlap --pattern gap-send --sizes 1,100k --steps 3 --mode synchronous --blocking yes"
  "overlap --pattern gap-receive --sizes 0,1000,100k --steps 3"
  "overlap --pattern gap-receive --sizes 1,100k --steps 3 --mode synchronous --blocking yes"
  "overlap --pattern local-send --sizes 0,1000,100k --compute 0,1000,10000"
  "overlap --pattern local-receive --sizes 0,1000,100k --compute 0,1000,10000")
launch(eager-limit 2 ""
  "eager-limit --receiver polling --sizes 1:1Mi:x8 --window 0.002 --tries 1"
  "eager-limit --receiver idle --sizes 1:1Mi:x8 --window 0.002 --tries 1")
