package zfp

import "math"

// encodeCell writes c.cell.
func (c *coder[F, I, U]) encodeCell(w *writer) {
	start := w.pos
	emax, prec := c.exponent()
	if prec == 0 {
		w.bits(0, 1)
		w.pad(start + int64(c.MinBits))
		return
	}
	w.bits(1|uint64(emax+c.bias)<<1, 1+c.ebits)
	scale, limit := F(math.Ldexp(1, c.bits-2-emax)), c.limit
	for i, v := range c.cell[:c.size] {
		// Round towards zero. Values out of range become the least integer, as on x86.
		v *= scale
		if v >= -limit && v < limit {
			c.ints[i] = I(v)
		} else {
			c.ints[i] = -1 << (c.bits - 1)
		}
	}
	c.forward()
	for i, from := range c.order {
		c.planes[i>>6][i&63] = uint64((U(c.ints[from]) + c.negabinary) ^ c.negabinary)
	}
	lowest := max(0, c.bits-prec)
	c.planes.split(c.size)
	c.planes.write(w, c.size, c.bits-1, lowest, c.MaxBits-1-c.ebits)
	w.pad(start + int64(c.MinBits))
}

// exponent returns the common exponent of c.cell and the number of bit planes to write. 0 planes means that the cell is
// written as zeros.
func (c *coder[F, I, U]) exponent() (emax, prec int) {
	largest := F(0)
	for _, v := range c.cell[:c.size] {
		if v < 0 {
			v = -v
		}
		if v > largest {
			largest = v
		}
	}
	if largest == 0 {
		return -c.bias, 0 // the exponent is stored as 0, which means zeros
	}
	_, emax = math.Frexp(float64(largest))
	emax = max(emax, 1-c.bias)
	return emax, c.precision(emax)
}

// precision returns the number of bit planes of a cell with a common exponent.
func (c *coder[F, I, U]) precision(emax int) int {
	return min(c.MaxPrec, max(0, emax-c.MinExp+2*c.dims+2))
}

// decodeCell reads c.cell.
func (c *coder[F, I, U]) decodeCell(r *reader) {
	start := r.pos
	head := r.bits(1 + c.ebits)
	if head&1 == 0 {
		clear(c.cell[:c.size])
		r.pos = start + 1
		r.skip(start + int64(c.MinBits))
		return
	}
	emax := int(head>>1) - c.bias
	clear(c.planes[:(c.size+63)/64])
	c.planes.read(r, c.size, c.bits-1, max(0, c.bits-c.precision(emax)), c.MaxBits-1-c.ebits)
	r.skip(start + int64(c.MinBits))
	c.planes.join(c.size)
	for i, to := range c.order {
		c.ints[to] = I((U(c.planes[i>>6][i&63]) ^ c.negabinary) - c.negabinary)
	}
	c.backward()
	scale := F(math.Ldexp(1, emax-(c.bits-2)))
	for i, q := range c.ints[:c.size] {
		c.cell[i] = scale * F(q)
	}
}

// forward transforms all lines along each axis, from the first to the last.
func (c *coder[F, I, U]) forward() {
	for s := 1; s < c.size; s *= 4 {
		for i := 0; i < c.size; i += 4 * s {
			for j := i; j < i+s; j++ {
				p := c.ints[j : j+3*s+1]
				x, y, z, w := p[0], p[s], p[2*s], p[3*s]
				x += w
				x >>= 1
				w -= x
				z += y
				z >>= 1
				y -= z
				x += z
				x >>= 1
				z -= x
				w += y
				w >>= 1
				y -= w
				w += y >> 1
				y -= w >> 1
				p[0], p[s], p[2*s], p[3*s] = x, y, z, w
			}
		}
	}
}

// backward undoes forward, from the last axis to the first, except for the bits that the shifts of forward lose.
func (c *coder[F, I, U]) backward() {
	for s := c.size / 4; s > 0; s /= 4 {
		for i := 0; i < c.size; i += 4 * s {
			for j := i; j < i+s; j++ {
				p := c.ints[j : j+3*s+1]
				x, y, z, w := p[0], p[s], p[2*s], p[3*s]
				y += w >> 1
				w -= y >> 1
				y += w
				w <<= 1
				w -= y
				z += x
				x <<= 1
				x -= z
				y += z
				z <<= 1
				z -= y
				w += x
				x <<= 1
				x -= w
				p[0], p[s], p[2*s], p[3*s] = x, y, z, w
			}
		}
	}
}
