/**
 * Converts grounding and citation metadata to annotations on the text that they support. The metadata itself is stored
 * verbatim in `vendor.fields`. https://ai.google.dev/api/generate-content#GroundingMetadata
 */
import { withMark } from '../googleTypes';
import { byteToIndex } from '../../shared/byteToIndex';
import { isObject } from '../../../../domain/util/json';
import type { MessageItem, OutputItem, OutputText } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

interface Citation {
  readonly url: string;
  readonly title: string;
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
    return [
      {
        type: 'url_citation',
        url: one.url,
        title: one.title,
        start_index: one.start - offset,
        end_index: Math.min(one.end, end) - offset,
      },
    ];
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
      return source === undefined ? [] : [{ ...source, ...location }];
    });
  });
}

/** A chunk contains one of web, retrievedContext and maps, each with a URI and a title. */
function sourceOf(chunk: JsonObject): { url: string; title: string } | undefined {
  const source = [chunk.web, chunk.retrievedContext, chunk.maps].find(isObject);
  return source === undefined ? undefined : linkOf(source);
}

function linkOf(source: JsonObject): { url: string; title: string } | undefined {
  return typeof source.uri === 'string'
    ? { url: source.uri, title: typeof source.title === 'string' ? source.title : '' }
    : undefined;
}

/** The Gemini API lists `citationSources`, Vertex AI `citations`. */
function citationsOf(metadata: unknown, text: string): Citation[] {
  if (!isObject(metadata)) return [];
  const indexOfByte = byteToIndex(text);
  return [...objectsIn(metadata.citationSources), ...objectsIn(metadata.citations)].flatMap((source) => {
    const link = linkOf(source);
    const location = locateSegment(source, text, indexOfByte);
    return link === undefined || location === undefined ? [] : [{ ...link, ...location }];
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
