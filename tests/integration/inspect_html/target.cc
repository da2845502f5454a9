// SPDX-License-Identifier: MIT
#include "../serve_inspect/target.cc"
