; SPDX-License-Identifier: MIT
; y = 2 × x + bias, with a bias for each of 4 rows.
.name "scale"
.core
.variable "x" input fp32 4x8
.variable "bias" file fp32 4
.data 0000803f000000400000404000008040 ; 1, 2, 3, 4
.variable "y" output fp32 4x8
.ring "loads" 0 in
.ring "stores" 1 out

.engine sync
dma_load shape=4x8 local=sbuf[0,0]:fp32:1 binding=0 dtype=fp32 stride=32,4 ring=0 release=0:1
dma_load shape=4 local=sbuf[0,32]:fp32:1 binding=1 dtype=fp32 stride=4 ring=0 release=0:1
dma_store shape=4x8 local=sbuf[0,64]:fp32:1 binding=2 dtype=fp32 stride=32,4 ring=1 acquire=1:1
halt

.engine scalar
nop acquire=0:2
activate op=identity shape=4x8 out=sbuf[0,64]:fp32:1 in=sbuf[0,0]:fp32:1 in1=sbuf[0,32]:fp32 scalar=2.0 flags=scalar_1 release=1:1
halt
