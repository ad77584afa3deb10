import { Invalid } from '../errors.ts';

/** A number that neither a JavaScript number nor a bigint holds exactly, by its decimal text. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/**
 * A number of the table. It has one form: a JavaScript number if its shortest text is the number and it is a safe integer
 * or a fraction, a bigint if it is a larger integer, `ExactNumber` otherwise.
 */
export type TableNumber = number | bigint | ExactNumber;

/** A number as `digits × 10^exponent`. `digits` has no zero at its end, and the exponent of zero is 0. */
type Decimal = { digits: bigint; exponent: number };

/** The limits of DynamoDB: significant digits, and the powers of ten of the first digit. */
const most = { digits: 38, power: 125 };
const leastPower = -130;

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the number of a decimal text.
 *
 * @throws `Invalid` if it is no number, or beyond the precision or the range of DynamoDB
 */
export function parseNumber(text: string): TableNumber {
  return numberOf(decimalOf(text));
}

/** Returns the order of two numbers: negative, 0 or positive. */
export function compareNumbers(a: TableNumber, b: TableNumber): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [first, second] = aligned(decimalOf(String(a)), decimalOf(String(b)));
  return first < second ? -1 : Number(first > second);
}

/**
 * Returns the exact sum of two numbers.
 *
 * @throws `Invalid` if it is beyond the precision or the range of DynamoDB
 */
export function addNumbers(a: TableNumber, b: TableNumber): TableNumber {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    // The sum of integers is exact if it is a safe integer. Fractions are added as decimals: 0.1 + 0.2 is 0.3.
    if (Number.isSafeInteger(a) && Number.isSafeInteger(b) && Number.isSafeInteger(sum)) return sum;
  }
  const first = decimalOf(String(a));
  const second = decimalOf(String(b));
  const [x, y] = aligned(first, second);
  return numberOf(trimmed(x + y, Math.min(first.exponent, second.exponent)));
}

/** Returns the number with the other sign. */
export function negated(number: TableNumber): TableNumber {
  if (number instanceof ExactNumber)
    return new ExactNumber(number.text.startsWith('-') ? number.text.slice(1) : `-${number.text}`);
  return typeof number === 'number' ? 0 - number : -number;
}

/**
 * Returns the size of a number in an item, in bytes: one for each two significant digits, of which zero has none, one, and one
 * for a sign.
 */
export function sizeOfNumber(number: TableNumber): number {
  if (number === 0) return 1;
  if (typeof number === 'number' && Number.isInteger(number)) {
    let rest = Math.abs(number);
    while (rest !== 0 && rest % 10 === 0) rest /= 10;
    return 1 + Math.ceil(String(rest).length / 2) + Number(number < 0);
  }
  const { digits } = decimalOf(String(number));
  const isNegative = digits < 0n;
  return 1 + Math.ceil(String(isNegative ? -digits : digits).length / 2) + Number(isNegative);
}

function decimalOf(text: string): Decimal {
  const [, sign = '', whole = '', fraction = '', power = '0'] = form.exec(text) ?? [];
  if (whole === '' && fraction === '')
    throw new Invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  return trimmed(BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`), Number(power) - fraction.length);
}

function trimmed(digits: bigint, exponent: number): Decimal {
  if (digits === 0n) return { digits, exponent: 0 };
  const text = String(digits);
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  return { digits: BigInt(text.slice(0, end)), exponent: exponent + text.length - end };
}

/** Returns the digits of two numbers at the same exponent. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * 10n ** BigInt(a.exponent - exponent), b.digits * 10n ** BigInt(b.exponent - exponent)];
}

function numberOf({ digits, exponent }: Decimal): TableNumber {
  const text = String(digits < 0n ? -digits : digits);
  if (text.length > most.digits) throw new Invalid('Attempting to store more than 38 significant digits in a Number');
  const power = exponent + text.length - 1;
  if (digits !== 0n && power > most.power)
    throw new Invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (digits !== 0n && power < leastPower)
    throw new Invalid('Number underflow. Attempting to store a number with magnitude smaller than supported range');
  if (exponent >= 0) {
    const whole = digits * 10n ** BigInt(exponent);
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  const number = Number(`${digits}e${exponent}`);
  const shortest = decimalOf(String(number));
  if (shortest.digits === digits && shortest.exponent === exponent) return number;
  const padded = text.padStart(1 - exponent, '0');
  return new ExactNumber(`${digits < 0n ? '-' : ''}${padded.slice(0, exponent)}.${padded.slice(exponent)}`);
}
