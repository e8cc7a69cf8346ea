/**
 * Converts grounding and citation metadata to annotations on the text that they support. The metadata itself is stored
 * verbatim in `vendor.fields`. https://ai.google.dev/api/generate-content#GroundingMetadata
 */
import { withMark } from '../googleTypes';
import { byteToIndex } from '../../shared/byteToIndex';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { MessageItem, OutputItem, OutputText } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

interface Citation {
  /** The annotation without its offsets. */
  readonly source: JsonObject;
  /** Offsets in the entire text of the response, in UTF-16 code units; the end is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** @param candidate with `groundingMetadata` and `citationMetadata` */
export function withCitations(items: readonly OutputItem[], candidate: JsonObject): readonly OutputItem[] {
  const text = items
    .flatMap((item) =>
      item.type === 'message' ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')) : [],
    )
    .join('');
  const citations = [
    ...groundingOf(candidate.groundingMetadata, text),
    ...citationsOf(candidate.citationMetadata, text),
  ];
  if (citations.length === 0) return items;
  let before = 0;
  return items.map((item) => {
    if (item.type !== 'message') return item;
    const content = item.content.map((part) => {
      if (part.type !== 'output_text') return part;
      const start = before;
      before += part.text.length;
      return annotate(part, start, citations);
    });
    return { ...item, content } satisfies MessageItem;
  });
}

function annotate(part: OutputText, offset: number, citations: readonly Citation[]): OutputText {
  const end = offset + part.text.length;
  const annotations = citations.flatMap((one): JsonObject[] => {
    if (one.start >= end || one.start < offset) return [];
    return [{ ...one.source, start_index: one.start - offset, end_index: Math.min(one.end, end) - offset }];
  });
  return annotations.length === 0 ? part : withMark({ ...part, annotations }, { cited: true });
}

function groundingOf(metadata: unknown, text: string): Citation[] {
  if (!isObject(metadata)) return [];
  // Supports refer to chunks by index, so invalid chunks keep theirs.
  const chunks = Array.isArray(metadata.groundingChunks)
    ? metadata.groundingChunks.map((chunk) => (isObject(chunk) ? sourceOf(chunk) : undefined))
    : [];
  const indexOfByte = byteToIndex(text);
  return objectsIn(metadata.groundingSupports).flatMap((support) => {
    const location = locateSegment(support.segment, text, indexOfByte);
    if (location === undefined || !Array.isArray(support.groundingChunkIndices)) return [];
    return support.groundingChunkIndices.flatMap((index) => {
      const source = typeof index === 'number' ? chunks[index] : undefined;
      return source === undefined ? [] : [{ source, ...location }];
    });
  });
}

/**
 * A chunk contains one of web, retrievedContext and maps, each with a URI and a title. Documents of file search have a
 * title only: https://ai.google.dev/gemini-api/docs/file-search#citations
 */
function sourceOf({ web, retrievedContext, maps }: JsonObject): JsonObject | undefined {
  const source = [web, retrievedContext, maps].find(isObject);
  if (source === undefined || source !== retrievedContext || source.uri !== undefined) return linkOf(source);
  const { title, text } = source;
  return typeof title === 'string'
    ? omitUndefined({ type: 'file_citation', filename: title, cited_text: text })
    : undefined;
}

function linkOf({ uri, title = '' }: JsonObject = {}): JsonObject | undefined {
  return typeof uri === 'string'
    ? { type: 'url_citation', url: uri, title: typeof title === 'string' ? title : '' }
    : undefined;
}

/** The Gemini API lists `citationSources`, Vertex AI `citations`. */
function citationsOf(metadata: unknown, text: string): Citation[] {
  if (!isObject(metadata)) return [];
  const indexOfByte = byteToIndex(text);
  return [...objectsIn(metadata.citationSources), ...objectsIn(metadata.citations)].flatMap((source) => {
    const link = linkOf(source);
    const location = locateSegment(source, text, indexOfByte);
    return link === undefined || location === undefined ? [] : [{ source: link, ...location }];
  });
}

/** Offsets are UTF-8 bytes. A segment's text takes precedence over its offsets, which streams and thoughts shift. */
function locateSegment(
  segment: unknown,
  text: string,
  indexOfByte: (byte: number) => number,
): { start: number; end: number } | undefined {
  if (!isObject(segment)) return undefined;
  const start = indexOfByte(typeof segment.startIndex === 'number' ? segment.startIndex : 0);
  const end = typeof segment.endIndex === 'number' ? indexOfByte(segment.endIndex) : undefined;
  const segmentText = typeof segment.text === 'string' && segment.text !== '' ? segment.text : undefined;
  if (segmentText === undefined) return end === undefined || end <= start ? undefined : { start, end };
  if (text.startsWith(segmentText, start)) return { start, end: start + segmentText.length };
  const found = text.indexOf(segmentText);
  return found === -1 ? undefined : { start: found, end: found + segmentText.length };
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
