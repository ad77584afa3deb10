import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../lib/sender/addresses.ts';
import { fc } from '../../seeded.ts';
import { addressIn, dangerousAddresses, publicAddresses, specialBlocks, specialEnds } from './special-addresses.ts';

describe('a public address', () => {
  it.each([
    ...publicAddresses,
    '1.1.1.1',
    '8.8.8.8',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '::ffff:8.8.8.8',
    // The addresses right beside special blocks.
    '9.255.255.255',
    '11.0.0.0',
    '172.32.0.0',
    '168.63.129.17',
    '2003::',
    '3fff:1000::',
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('no public address', () => {
  it.each([...dangerousAddresses, ...specialEnds])('is what is %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    ['outside 2000::/3', '4000::1'],
    ['link-local, with its zone', 'fe80::1%eth0'],
    ['public, with a zone', '2606:4700:4700::1111%eth0'],
    ['a short spelling', '1.1'],
    ['a number', '16843009'],
    ['in octal', '010.0.0.1'],
    ['in brackets', '[2606:4700:4700::1111]'],
    ['a name', 'example.com'],
    ['nothing', ''],
  ])('is what is %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('lies in a special-purpose block, wherever in it', () => {
    const anywhere = fc.array(fc.integer({ min: 0, max: 0xff }), { minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(fc.constantFrom(...specialBlocks), anywhere, ([, block], fill) => {
        expect(isPublicAddress(addressIn(block, fill))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('becomes one by being mapped into IPv6 or by NAT64, and no public one stops being one', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address));
        expect(isPublicAddress(`64:ff9b::${address}`)).toBe(isPublicAddress(address));
      }),
    );
  });
});
