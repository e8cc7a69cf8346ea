/** Denies requests that are too large. */
import { CHARACTERS_PER_TOKEN } from '../../ai/domain/entities/charactersPerToken';
import type { Guardrail } from '../../ai/domain/interfaces/Guardrail';
import { isList, isObject } from '../../ai/domain/util/json';
import type { MaximumSizeSettings } from '../../ai/domain/types/GuardrailSettings';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { mapStrings } from './mapStrings';

export function maximumSize(settings: MaximumSizeSettings): Guardrail {
  return {
    name: 'maximum-size',
    version: canonicalJson(settings),
    async before(request) {
      let characters = 0;
      const count = (text: string): string => {
        characters += text.length;
        return text;
      };
      await mapStrings(request, count, count);
      const attachmentBytes = attachedBytes(request.input, '');
      const given = { characters, tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN), attachmentBytes };
      for (const [unit, label] of UNITS) {
        const limit = settings[unit];
        if (limit !== undefined && given[unit] > limit)
          return { deny: `It has ${given[unit]} ${label}; at most ${limit} are allowed.`, annotate: given };
      }
      return undefined;
    },
  };
}

const UNITS = [
  ['characters', 'characters'],
  ['tokens', 'tokens, as estimated'],
  ['attachmentBytes', 'bytes in images and files'],
] as const satisfies readonly (readonly [keyof MaximumSizeSettings, string])[];

const DATA_URI = /^data:[^,]{0,200};base64,/;

function attachedBytes(value: unknown, field: string): number {
  if (typeof value === 'string') {
    const header = DATA_URI.exec(value)?.[0];
    if (header !== undefined) return bytesOf(value.length - header.length);
    return field === 'file_data' || field === 'data' ? bytesOf(value.length) : 0;
  }
  if (isList(value)) return value.reduce((sum: number, each) => sum + attachedBytes(each, field), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((sum, [name, each]) => sum + attachedBytes(each, name), 0);
}

function bytesOf(base64Length: number): number {
  return Math.floor((base64Length * 3) / 4);
}
