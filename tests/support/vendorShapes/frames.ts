/** Converts a response of each wire to an equivalent stream, so that both can be read and compared. */
import type { JsonObject, ServedWire } from '../../../imports/business/ai/domain/types/VendorTypes';
import { chunksOf } from '../chatChunks';

/** The body of the stream. */
export const TO_STREAM: Readonly<Record<ServedWire, (body: JsonObject) => string>> = {
  responses: (body) => named(responsesEvents(body)),
  chat_completions: (body) => `${unnamed(chunksOf(body, 3))}data: [DONE]\n\n`,
  anthropic_messages: (body) => named(anthropicEvents(body)),
  gemini: (body) => unnamed(geminiChunks(body)).replaceAll('\n', '\r\n'),
};

function named(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function unnamed(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function responsesEvents(body: JsonObject): readonly JsonObject[] {
  const output = body.output as readonly JsonObject[];
  const started = { ...body, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events: JsonObject[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
  ];
  output.forEach((item, output_index) => {
    const first =
      item.type === 'message'
        ? { ...item, content: [], status: 'in_progress' }
        : item.type === 'function_call'
          ? { ...item, arguments: '', status: 'in_progress' }
          : item;
    events.push({ type: 'response.output_item.added', output_index, item: first });
    if (item.type === 'message')
      events.push(
        ...(item.content as readonly JsonObject[]).flatMap((part, content_index) =>
          partEvents(part, { output_index, content_index, item_id: item.id }),
        ),
      );
    events.push({ type: 'response.output_item.done', output_index, item });
  });
  events.push({ type: `response.${body.status === 'incomplete' ? 'incomplete' : 'completed'}`, response: body });
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

function partEvents(part: JsonObject, place: JsonObject): readonly JsonObject[] {
  const isText = part.type === 'output_text';
  const kind = isText ? 'output_text' : 'refusal';
  const text = String(isText ? part.text : part.refusal);
  const annotations = isText ? (part.annotations as readonly JsonObject[]) : [];
  return [
    {
      type: 'response.content_part.added',
      ...place,
      part: isText ? { type: kind, text: '', annotations: [] } : { type: kind, refusal: '' },
    },
    ...halves(text).map((delta) => ({ type: `response.${kind}.delta`, ...place, delta })),
    ...annotations.map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation_index,
      annotation,
    })),
    { type: `response.${kind}.done`, ...place, [isText ? 'text' : 'refusal']: text },
    { type: 'response.content_part.done', ...place, part },
  ];
}

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
function anthropicEvents(body: JsonObject): readonly JsonObject[] {
  const { content, stop_reason, stop_sequence, stop_details, container, context_management, usage, ...message } = body;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...(usage as JsonObject), output_tokens: 1 },
  };
  const outcome = { stop_reason, stop_sequence, stop_details, container };
  return [
    { type: 'message_start', message: start },
    { type: 'ping' },
    ...(content as readonly JsonObject[]).flatMap((block, index) =>
      blockEvents(block).map((event) => ({ index, ...event })),
    ),
    { type: 'message_delta', delta: defined(outcome), usage, ...defined({ context_management }) },
    { type: 'message_stop' },
  ];
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function blockEvents(block: JsonObject): readonly JsonObject[] {
  const { first, deltas } = splitBlock(block);
  return [
    { type: 'content_block_start', content_block: first },
    ...deltas.map((delta) => ({ type: 'content_block_delta', delta })),
    { type: 'content_block_stop' },
  ];
}

function splitBlock(block: JsonObject): { readonly first: JsonObject; readonly deltas: readonly JsonObject[] } {
  if (block.type === 'text') {
    const { citations, ...rest } = block;
    const cited = Array.isArray(citations) ? (citations as readonly JsonObject[]) : [];
    return {
      first: {
        ...rest,
        ...(citations === undefined ? {} : { citations: Array.isArray(citations) ? [] : citations }),
        text: '',
      },
      deltas: [
        ...cited.map((citation) => ({ type: 'citations_delta', citation })),
        ...halves(String(block.text)).map((text) => ({ type: 'text_delta', text })),
      ],
    };
  }
  if (block.type === 'thinking') {
    return {
      first: { ...block, thinking: '', signature: '' },
      deltas: [
        ...halves(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ],
    };
  }
  if (block.type === 'compaction') {
    const { content, encrypted_content, ...rest } = block;
    return {
      first: { ...rest, content: null, encrypted_content: null },
      deltas: [{ type: 'compaction_delta', content, encrypted_content }],
    };
  }
  if ('input' in block) {
    return {
      first: { ...block, input: {} },
      deltas: ['', ...halves(JSON.stringify(block.input))].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    };
  }
  return { first: block, deltas: [] };
}

/** https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
function geminiChunks(body: JsonObject): readonly JsonObject[] {
  const { candidates, usageMetadata, ...rest } = body;
  const [candidate] = (candidates ?? []) as readonly JsonObject[];
  if (candidate === undefined) return [body];
  const { content, ...ending } = candidate;
  const { parts, ...role } = (content ?? {}) as JsonObject;
  const pieces = ((parts ?? []) as readonly JsonObject[]).flatMap((part) =>
    isPlainText(part) ? halves(String(part.text)).map((text) => ({ ...part, text })) : [part],
  );
  const chunk = (fields: JsonObject): JsonObject => ({ candidates: [fields], usageMetadata, ...rest });
  return [
    ...pieces.map((part) => chunk({ content: { ...role, parts: [part] }, index: 0 })),
    chunk({ ...(content === undefined ? {} : { content: role }), ...ending }),
  ];
}

function isPlainText(part: JsonObject): boolean {
  return (
    typeof part.text === 'string' &&
    part.text.length > 1 &&
    Object.keys(part).every((field) => field === 'text' || field === 'thought')
  );
}
