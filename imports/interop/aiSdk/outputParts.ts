/** Reads from a response's output what a UI message shows of it. */
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import { fieldsOf } from '../../business/ai/domain/util/json';
import type { JSONValue } from './UIMessages';

export interface TextBlock {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

/** The texts in order. Adjacent ones of a kind are one, as they are in a stream of deltas. */
export function blocksOf(output: readonly Item[]): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  for (const { kind, text } of output.flatMap(textsOf)) {
    const last = blocks.at(-1);
    if (last?.kind === kind) blocks[blocks.length - 1] = { kind, text: last.text + text };
    else if (text !== '') blocks.push({ kind, text });
  }
  return blocks;
}

function textsOf(item: Item): readonly TextBlock[] {
  if (item.type === 'reasoning')
    return [...item.summary, ...(item.content ?? [])].map(({ text }) => ({ kind: 'reasoning', text }));
  if (item.type !== 'message') return [];
  return item.content.flatMap((part): readonly TextBlock[] => {
    if (part.type === 'output_text') return [{ kind: 'text', text: part.text }];
    return part.type === 'refusal' ? [{ kind: 'text', text: part.refusal }] : [];
  });
}

/** The web pages that the text cites, each once. */
export function sourcesOf(output: readonly Item[]): readonly { readonly url: string; readonly title?: string }[] {
  const sources = new Map<string, { readonly url: string; readonly title?: string }>();
  for (const item of output) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type !== 'output_text') continue;
      for (const { type, url, title } of part.annotations)
        if (type === 'url_citation' && typeof url === 'string' && !sources.has(url))
          sources.set(url, { url, ...(typeof title === 'string' ? { title } : {}) });
    }
  }
  return [...sources.values()];
}

/** The images that the vendor generated, as data URLs. */
export function filesOf(output: readonly Item[]): readonly { readonly url: string; readonly mediaType: string }[] {
  return output.flatMap((item) => {
    if (item.type !== 'image_generation_call') return [];
    const { result, output_format: format } = fieldsOf(item);
    if (typeof result !== 'string') return [];
    const mediaType = `image/${typeof format === 'string' ? format : 'png'}`;
    return [{ mediaType, url: `data:${mediaType};base64,${result}` }];
  });
}

/**
 * The output as JSON, if parts for text and tools can't represent all of it: reasoning that the vendor wants back,
 * citations, calls of hosted tools.
 */
export function opaqueOutput(output: readonly Item[]): JSONValue | undefined {
  return output.every(isPlain) ? undefined : (JSON.parse(JSON.stringify(output)) as JSONValue);
}

function isPlain(item: Item): boolean {
  if (item.vendor !== undefined) return false;
  if (item.type === 'function_call') return true;
  return (
    item.type === 'message' &&
    item.phase === undefined &&
    item.content.every(
      (part) => part.type === 'output_text' && part.vendor === undefined && part.annotations.length === 0,
    )
  );
}
