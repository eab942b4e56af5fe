{# SPDX-License-Identifier: BSD-3-Clause #}
{# The checkout in place of its spack.yaml alone, and all of its views, which are the stack. #}
{% extends "container/Dockerfile" %}
{% block build_stage %}
COPY . {{ paths.environment }}
RUN spack config --scope site add config:install_tree:root:{{ paths.store }} \
 && spack -e {{ paths.environment }} compiler find --scope site
RUN cd {{ paths.environment }} && spack env activate . && spack install --fail-fast && spack gc -y
RUN cd {{ paths.environment }} && spack env activate --sh -d . > activate.sh
RUN mkdir -p {{ paths.view_parent }} && ln -s {{ paths.environment }}/.spack-env/tools {{ paths.view }}
{% endblock %}
