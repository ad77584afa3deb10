import { isDeepStrictEqual } from 'node:util';

/** A patch of a stored object: of its fields only, with `null` only for fields that can be absent. */
export type Patch<Stored extends object> = {
  [Field in keyof Stored]?: Stored[Field] | (undefined extends Stored[Field] ? null : never) | undefined;
};

/** A type error for each field of a patch that the stored object does not have: it would be accepted and not stored. */
type OnlyFieldsOf<Stored extends object, Fields> = { [Field in Exclude<keyof Fields, keyof Stored>]?: never };

/**
 * Returns an object after a patch: absent and `undefined` fields stay, `null` removes a field, and an equal value keeps the
 * stored one. If nothing changes it returns the same object, so that equal values write nothing and keep the ETag.
 */
export function applyPatch<Stored extends object, Fields extends Patch<Stored>>(
  stored: Stored,
  patch: Fields & OnlyFieldsOf<Stored, Fields>,
): Stored {
  const changes = Object.entries(patch as Patch<Stored>).filter(
    ([field, value]) => value !== undefined && !isDeepStrictEqual(stored[field as keyof Stored], value ?? undefined),
  );
  if (changes.length === 0) return stored;
  const fields = Object.entries({ ...stored, ...Object.fromEntries(changes) });
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as Stored;
}

/** The parts of an update of an item. */
type Update = {
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues: Record<string, unknown>;
};

/**
 * Returns the parts of an update that sets attributes, and removes the attributes that are `undefined`.
 *
 * @param attributes at least one
 */
export function updateOf(attributes: Readonly<Record<string, unknown>>): Update {
  const names = Object.keys(attributes);
  const set = names.filter((name) => attributes[name] !== undefined);
  const removed = names.filter((name) => attributes[name] === undefined);
  return {
    UpdateExpression: [
      ...(set.length > 0 ? [`SET ${set.map((name) => `#${name} = :new_${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(set.map((name) => [`:new_${name}`, attributes[name]])),
  };
}

/**
 * Returns the fields that differ between two states of an object, as the second has them; `undefined` for fields that it
 * does not have.
 *
 * @param except fields that are stored in another way
 */
export function changedFields<Stored extends object>(
  before: Stored,
  after: Stored,
  except: readonly (keyof Stored)[],
): Partial<Stored> {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Stored)[];
  const changed = fields.filter((field) => !except.includes(field) && !isDeepStrictEqual(before[field], after[field]));
  return Object.fromEntries(changed.map((field) => [field, after[field]])) as Partial<Stored>;
}
