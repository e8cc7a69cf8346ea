/** Reads tags and metadata of runs. */
import { invalid, line, listOf, text } from '../../domain/arguments';
import type { ArgumentReader } from '../../domain/arguments';
import { isList, isObject } from '../../domain/json';
import type { RunMetadataFields } from '../../domain/types/RunViews';

const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 64;

/** Up to 20 tags of up to 64 characters, each once. A comma separates tags in addresses. */
export const tagList: ArgumentReader<readonly string[]> = (value, path) => {
  const tags = listOf(MAX_TAGS, tagName)(value, path);
  return [...new Set(tags)];
};

export const tagName: ArgumentReader<string> = (value, path) => {
  const tag = line(MAX_TAG_LENGTH)(value, path).trim();
  if (tag.includes(',')) throw invalid(path, 'must not contain a comma');
  return tag;
};

const MAX_METADATA_FIELDS = 32;
const MAX_METADATA_LENGTH = 512;

/** Up to 32 fields, named with letters, digits, `_` and `-`, of text, numbers, true and false. */
export const metadataFields: ArgumentReader<RunMetadataFields> = (value, path) => {
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
