/** The addresses that attackers want most: the machine itself, its network, and the services with its secrets. */
const wanted = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '169.254.170.2', '168.63.129.16'];

/** The hosts of URLs that mean an IPv4 address, by what the spelling is called. */
export function spellingsOf(address: string): [spelling: string, host: string][] {
  const parts = address.split('.').map(Number) as [number, number, number, number];
  const [a, b, c, d] = parts;
  const whole = parts.reduce((sum, part) => sum * 256 + part, 0);
  const hex = (part: number) => part.toString(16).padStart(2, '0');
  const groups = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
  // A Teredo client's own address is in it with every bit turned over (RFC 4380, section 4).
  const turned = parts.map((part) => 255 - part).map(hex);
  return [
    ['written out', address],
    ['with a dot behind it', `${address}.`],
    ['in decimal', `${whole}`],
    ['in octal', parts.map((part) => `0${part.toString(8)}`).join('.')],
    ['in octal, whole', `0${whole.toString(8)}`],
    ['in hexadecimal', parts.map((part) => `0x${hex(part)}`).join('.')],
    ['in hexadecimal, whole', `0x${whole.toString(16)}`],
    ['short', `${a}.${b}.${c * 256 + d}`],
    ['shorter', `${a}.${(b * 256 + c) * 256 + d}`],
    ['partly in each', `0x${hex(a)}.0${b.toString(8)}.${c}.${d}`],
    ['in percent-encoding', address.replaceAll(/\d/g, (digit) => `%3${digit}`)],
    ['in wide digits', address.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
    ['with wide stops', address.replaceAll('.', '\u3002')],
    ['mapped into IPv6', `[::ffff:${address}]`],
    ['mapped into IPv6, in hexadecimal', `[::FFFF:${groups}]`],
    ['compatible with IPv4', `[::${address}]`],
    ['translated by SIIT', `[::ffff:0:${address}]`],
    ['through NAT64', `[64:ff9b::${address}]`],
    ['through a local NAT64', `[64:ff9b:1::${address}]`],
    ['through 6to4', `[2002:${groups}::]`],
    ['through Teredo', `[2001:0:4136:e378:8000:63bf:${turned[0]}${turned[1]}:${turned[2]}${turned[3]}]`],
    ['through ISATAP', `[fe80::5efe:${address}]`],
  ];
}

/** Every host of a URL by which one of these could be meant, and spellings of the loopback alone. */
export const spelledAddresses = [
  { address: '0.0.0.0', spelling: 'as short as can be', host: '0' },
  { address: '::1', spelling: 'written out', host: '[::1]' },
  { address: '::1', spelling: 'at its longest', host: '[0000:0000:0000:0000:0000:0000:0000:0001]' },
  ...wanted.flatMap((address) => spellingsOf(address).map(([spelling, host]) => ({ address, spelling, host }))),
];
