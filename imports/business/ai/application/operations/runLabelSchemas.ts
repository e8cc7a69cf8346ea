/** Tags and metadata of runs. */
import * as v from 'valibot';
import { line, listOf, readBy } from '../../../../host/schemas';
import { invalid, text } from '../../domain/util/arguments';
import type { ArgumentReader } from '../../domain/util/arguments';
import { isList, isObject } from '../../domain/util/json';
import type { RunMetadataFields } from '../../domain/types/RunViews';

const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 64;

/** A comma separates tags in addresses. */
export const tag = v.pipe(
  line(MAX_TAG_LENGTH),
  v.transform((given) => given.trim()),
  v.check((given) => !given.includes(','), 'must not contain a comma'),
);

/** Each once. */
export const tags = v.pipe(
  listOf(MAX_TAGS, tag),
  v.transform((given): readonly string[] => [...new Set(given)]),
);

const MAX_METADATA_FIELDS = 32;
const MAX_METADATA_LENGTH = 512;

const metadataFields: ArgumentReader<RunMetadataFields> = (value, path) => {
  if (!isObject(value) || isList(value)) throw invalid(path, 'must be an object');
  const entries = Object.entries(value);
  if (entries.length > MAX_METADATA_FIELDS) throw invalid(path, `must have at most ${MAX_METADATA_FIELDS} fields`);
  return Object.fromEntries(
    entries.map(([name, field]) => {
      if (!/^[\w-]{1,64}$/.test(name) || name === '__proto__')
        throw invalid(path, 'must have names of 1 to 64 letters, digits, "_" and "-"');
      const isPlain = typeof field === 'boolean' || (typeof field === 'number' && Number.isFinite(field));
      return [name, isPlain ? field : text(MAX_METADATA_LENGTH)(field, `${path}.${name}`)];
    }),
  );
};

/** Up to 32 fields, named with letters, digits, `_` and `-`, of text, numbers, true and false. */
export const metadata = readBy('metadata', metadataFields, {
  type: 'object',
  maxProperties: MAX_METADATA_FIELDS,
  additionalProperties: { type: ['string', 'number', 'boolean'] },
});
