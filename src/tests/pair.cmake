# SPDX-License-Identifier: BSD-3-Clause
# Ping-pong and ping-ping in every mode.
foreach(experiment pingpong pingping)
  foreach(mode standard synchronous buffered ready)
    launch("${experiment} --mode ${mode} --blocking yes --sizes 0,1,1000,100k"
      "${experiment} --mode ${mode} --blocking no --sizes 0,1,1000,100k")
  endforeach()
  launch("${experiment} --cache cold --sizes 0,1,100k")
  launch("${experiment} --layout 4095,16 --sizes 0,1,100k")
  launch("${experiment} --wildcard both --mode ready --blocking no --sizes 0,1,100k")
endforeach()
launch("pingping --receive last --wildcard tag --blocking no --mode synchronous --sizes 0,1,100k")
