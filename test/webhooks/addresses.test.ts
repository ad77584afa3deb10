import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../lib/webhooks/addresses.ts';

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '223.255.255.254',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('no public address', () => {
  it.each([
    ['the host itself', '0.0.0.0'],
    ['loopback', '127.0.0.1'],
    ['loopback, at its end', '127.255.255.255'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared by a carrier', '100.64.0.1'],
    ['link-local: metadata of a machine', '169.254.169.254'],
    ['link-local: metadata of a container', '169.254.170.2'],
    ["the platform's own", '168.63.129.16'],
    ['kept for protocols', '192.0.0.1'],
    ['kept for documents', '192.0.2.1'],
    ['kept for documents', '203.0.113.1'],
    ['kept for measurements', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['mapped private', '::ffff:10.0.0.1'],
    ['mapped private, in hexadecimal', '::ffff:a00:1'],
    ['mapped metadata', '::ffff:169.254.169.254'],
    ["mapped platform's own", '::ffff:168.63.129.16'],
    ['an old spelling of a private one', '::10.0.0.1'],
    ['an old spelling of a public one, in hexadecimal', '::808:808'],
    ['unique local', 'fc00::1'],
    ['unique local', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local, with its zone', 'fe80::1%eth0'],
    ['site-local of old', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['translated to IPv4', '64:ff9b::a00:1'],
    ['translated to IPv4 locally', '64:ff9b:1::a00:1'],
    ['tunnelled by 6to4', '2002:a00:1::1'],
    ['tunnelled by Teredo', '2001::1'],
    ['kept for documents', '2001:db8::1'],
    ['kept for documents', '3fff::1'],
    ['discarded', '100::1'],
    ['outside 2000::/3', '4000::1'],
    ['no address', 'example.com'],
    ['nothing', ''],
  ])('is what is %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
