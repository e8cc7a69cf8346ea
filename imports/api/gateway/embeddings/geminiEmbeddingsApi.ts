/** `POST /v1beta/models/<model>:embedContent` and `:batchEmbedContents`. https://ai.google.dev/api/embeddings */
import { integer, invalid, optional, text } from '../../../business/ai/domain/util/arguments';
import { fieldsOf, isList, isObject, isObjectList } from '../../../business/ai/domain/util/json';
import type { EmbeddingInput, EmbedOptions } from '../../../business/ai/domain/types/EmbeddingTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { decodeModel } from '../generation/geminiApi';
import type { EmbeddingsApi } from './EmbeddingsApi';

export const GEMINI_EMBEDDINGS_PATH =
  /^\/v1(?:beta|alpha)?\/(?:models\/)?(?<model>.+):(?<method>embedContent|batchEmbedContents)$/;

const MAX_DIMENSIONS = 1_000_000;
const MAX_TEXT = 10_000;

type Settings = Pick<EmbedOptions, 'dimensions' | 'taskType' | 'title'>;

export const geminiEmbeddingsApi: EmbeddingsApi = {
  wire: 'gemini',
  ownWires: ['gemini'],
  read({ path, body }) {
    const { model = '', method } = GEMINI_EMBEDDINGS_PATH.exec(path)?.groups ?? {};
    const isBatch = method === 'batchEmbedContents';
    const requests = isBatch ? readRequests(body) : [{ fields: fieldsOf(body), path: '' }];
    const [first] = requests;
    const settings = first === undefined ? {} : readSettings(first.fields, first.path);
    const differing = requests.find((each) => !isSame(readSettings(each.fields, each.path), settings));
    if (differing !== undefined)
      throw invalid(differing.path, 'must have the same task type, title and dimensions as the first one');
    return {
      options: {
        model: decodeModel(model),
        input: requests.map(({ fields, path: at }) => readContent(fields['content'], joined(at, 'content'))),
        ...settings,
      },
      warnings: [],
      write: ({ embeddings, usage }) => {
        const vectors = embeddings.map((values) => ({ values }));
        const usageMetadata = { promptTokenCount: usage.input_tokens };
        return isBatch ? { embeddings: vectors, usageMetadata } : { embedding: vectors[0], usageMetadata };
      },
    };
  },
};

interface PlacedFields {
  readonly fields: JsonObject;
  readonly path: string;
}

function readRequests(body: unknown): readonly PlacedFields[] {
  const { requests } = fieldsOf(body);
  if (!isList(requests) || requests.length === 0) throw invalid('requests', 'must be a list of requests');
  return requests.map((each, index) => {
    const path = `requests[${index}]`;
    if (!isObject(each)) throw invalid(path, 'must be an object');
    return { fields: each, path };
  });
}

/** JSON of protocol buffers has names in both cases: https://protobuf.dev/programming-guides/json */
function readSettings(fields: JsonObject, path: string): Settings {
  const given = {
    dimensions: fields['outputDimensionality'] ?? fields['output_dimensionality'] ?? undefined,
    taskType: fields['taskType'] ?? fields['task_type'] ?? undefined,
    title: fields['title'] ?? undefined,
  };
  return {
    ...optional(given, 'dimensions', integer(1, MAX_DIMENSIONS), joined(path, 'outputDimensionality')),
    ...optional(given, 'taskType', text(MAX_TEXT), joined(path, 'taskType')),
    ...optional(given, 'title', text(MAX_TEXT), joined(path, 'title')),
  };
}

function isSame(a: Settings, b: Settings): boolean {
  return a.dimensions === b.dimensions && a.taskType === b.taskType && a.title === b.title;
}

/** @returns the text of a content that is a single one */
function readContent(content: unknown, path: string): EmbeddingInput {
  const { parts: given } = fieldsOf(content);
  const parts = isObject(given) ? [given] : given;
  if (!isObjectList(parts) || parts.length === 0) throw invalid(joined(path, 'parts'), 'must be a list of parts');
  const [only, another] = parts;
  const text = only !== undefined && another === undefined && Object.keys(only).length === 1 ? only['text'] : undefined;
  return typeof text === 'string' ? text : { parts };
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
