# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are not part of cotejo: finds and starts them, and turns output into samples."""
