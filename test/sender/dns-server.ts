import { createSocket } from 'node:dgram';

/** What a DNS server answers: addresses, a failure, or nothing at all. */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence';

type Question = { name: string; type: 'A' | 'AAAA' };

/** The response codes of RFC 1035, section 4.1.1. */
const codes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };

const types = { A: 1, AAAA: 28 };

/**
 * Starts a DNS server on the loopback that speaks UDP.
 *
 * @param answer decides by the name and the type; no addresses mean that the name has none of this type
 * @returns its `address:port`, and what it was asked, repeated questions included
 */
export async function startDnsServer(
  answer: (question: Question) => DnsAnswer | Promise<DnsAnswer>,
): Promise<{ server: string; asked: Question[] }> {
  const socket = createSocket('udp4');
  const asked: Question[] = [];
  socket.on('message', async (query, { port, address }) => {
    const question = questionIn(query);
    asked.push(question);
    const reply = await answer(question);
    if (reply !== 'silence') socket.send(replyTo(query, question, reply), port, address);
  });
  await new Promise<void>((resolve) => socket.unref().bind(0, '127.0.0.1', resolve));
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

const headerBytes = 12;

function questionIn(query: Buffer): Question {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  // Case is random in questions, against forged answers.
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1) === types.A ? 'A' : 'AAAA' };
}

function replyTo(query: Buffer, { name, type }: Question, reply: Exclude<DnsAnswer, 'silence'>): Buffer {
  const addresses = typeof reply === 'string' ? [] : reply;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  // An answer, recursion desired and available.
  header.writeUInt16BE(0x8180 | (typeof reply === 'string' ? codes[reply] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const question = query.subarray(headerBytes, headerBytes + name.length + 2 + 4);
  return Buffer.concat([header, question, ...addresses.map((address) => record(type, bytesOf(address)))]);
}

/** A resource record of the name in the question, which is kept for no time. */
function record(type: Question['type'], data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | headerBytes, 0);
  head.writeUInt16BE(types[type], 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** An IPv4 address, or an IPv6 address that is written out in eight groups. */
function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const groups = address.split(':').map((group) => group.padStart(4, '0'));
  return Buffer.from(groups.join(''), 'hex');
}
