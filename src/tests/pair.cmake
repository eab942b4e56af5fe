# SPDX-License-Identifier: BSD-3-Clause
# Ping-pong and ping-ping in every mode.
set(cases)
foreach(experiment pingpong pingping)
  foreach(mode standard synchronous buffered ready)
    foreach(blocking yes no)
      list(APPEND cases "${experiment} --mode ${mode} --blocking ${blocking} --sizes 0,1,1000,100k")
    endforeach()
  endforeach()
endforeach()
launch(modes 2 "${bounds}" ${cases})
launch(pingpong-cold 2 "${bounds}" "pingpong --cache cold --sizes 0,1,100k")
launch(pair 2 "${bounds}"
  "pingpong --layout 4095,16 --sizes 0,1,100k"
  "pingping --layout 4095,16 --sizes 0,1,100k"
  "pingpong --wildcard both --mode ready --blocking no --sizes 0,1,100k"
  "pingping --wildcard both --mode ready --blocking no --sizes 0,1,100k"
  "pingping --receive last --wildcard tag --blocking no --mode synchronous --sizes 0,1,100k"
  "pingpong --sizes 1:64Ki:x16 --adaptive 0.1 --mode ready")
