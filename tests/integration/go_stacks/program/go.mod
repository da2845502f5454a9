// SPDX-License-Identifier: MIT
module program

go 1.19
