/**
 * Responses of the Gemini API and Vertex AI that the recordings do not cover:
 * https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
import type { ResponseStatus } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { VendorShape } from './VendorShape';

const USAGE = {
  promptTokenCount: 10,
  candidatesTokenCount: 20,
  totalTokenCount: 45,
  thoughtsTokenCount: 8,
  toolUsePromptTokenCount: 7,
  cachedContentTokenCount: 4,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
  candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
  toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }],
  cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 4 }],
  trafficType: 'ON_DEMAND',
};

function shape(
  name: string,
  text: string,
  parts: readonly JsonObject[] | undefined,
  ending: JsonObject = {},
  fields: JsonObject = {},
  status: ResponseStatus = 'completed',
): VendorShape {
  const content = parts === undefined ? {} : { content: { parts, role: 'model' } };
  return {
    name,
    text,
    status,
    textsNotReturned: [],
    vendor: 'google',
    wire: 'gemini',
    body: {
      candidates: [{ ...content, finishReason: 'STOP', index: 0, ...ending }],
      usageMetadata: USAGE,
      modelVersion: 'gemini-2.5-flash',
      responseId: 'rid-1',
      ...fields,
    },
  };
}

export const GEMINI_SHAPES: readonly VendorShape[] = [
  shape('code execution and its result', 'I compute. Two.', [
    { text: 'I compute. ' },
    { executableCode: { language: 'PYTHON', code: 'CODE_TEXT', id: 'ec1' }, thoughtSignature: 'U0lHX0NPREU=' },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: 'CODE_OUT', id: 'ec1' } },
    { inlineData: { mimeType: 'image/png', data: 'aW1hZ2U=' } },
    { text: 'Two.' },
  ]),
  shape('thoughts with signatures on every type of part', 'Signed text.', [
    { text: 'I think.', thought: true },
    { text: 'Signed thought.', thought: true, thoughtSignature: 'U0lHX1RIT1VHSFQ=' },
    { text: 'Signed text.', thoughtSignature: 'U0lHX1RFWFQ=' },
    { functionCall: { name: 'find', args: { place: 'here' }, id: 'fc-7' }, thoughtSignature: 'U0lHX0NBTEw=' },
    { functionCall: { name: 'find', args: {} } },
    { text: '', thoughtSignature: 'U0lHX0VNUFRZ' },
  ]),
  shape('grounding, fetched pages and citations', 'Owls hunt.', [{ text: 'Owls hunt.' }], {
    groundingMetadata: {
      webSearchQueries: ['owls'],
      searchEntryPoint: { renderedContent: '<b>RENDERED</b>' },
      groundingChunks: [
        { web: { uri: 'https://owl.example', title: 'Owls', domain: 'owl.example' } },
        { maps: { uri: 'https://maps.example', title: 'Here', placeId: 'p' } },
      ],
      groundingSupports: [
        {
          segment: { startIndex: 0, endIndex: 4, text: 'Owls' },
          groundingChunkIndices: [0, 1],
          confidenceScores: [0.9],
        },
      ],
      retrievalMetadata: { googleSearchDynamicRetrievalScore: 0.5 },
    },
    urlContextMetadata: {
      urlMetadata: [{ retrievedUrl: 'https://owl.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
    },
    citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 4, uri: 'https://c.example', license: '' }] },
    safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
    avgLogprobs: -0.1,
  }),
  shape('an image in the response', 'Here it is.', [
    { text: 'Here it is.' },
    { inlineData: { mimeType: 'image/png', data: 'aW1hZ2U=' }, thoughtSignature: 'U0lHX0lNRw==' },
  ]),
  shape('an unknown part', 'Well.', [
    { partOfTomorrow: { says: 'TOMORROW' } },
    { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { q: 'owls' }, id: 't1' }, thoughtSignature: 'VA==' },
    { text: 'Well.' },
  ]),
  shape(
    'absent fields written as null',
    'I say.',
    [
      { text: 'I think.', thought: true, thoughtSignature: null, functionCall: null },
      { text: 'I say.', thought: null, thoughtSignature: null, functionCall: null, inlineData: null },
      {
        text: null,
        functionCall: { name: 'find', args: { place: 'here' }, id: null },
        thought: null,
        thoughtSignature: 'U0lH',
      },
    ],
    { groundingMetadata: null, citationMetadata: null, finishMessage: null, safetyRatings: null },
    { promptFeedback: null },
  ),
  shape('a text with thought: false', 'I say.', [{ text: 'I say.', thought: false }]),
  shape('a response without content', '', undefined, { finishReason: 'STOP' }),
  ...[
    'MAX_TOKENS',
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
  ].map((finishReason) =>
    shape(
      `a response that ended with ${finishReason}`,
      'I was',
      [{ text: 'I was' }],
      { finishReason, finishMessage: 'Because.' },
      {},
      'incomplete',
    ),
  ),
  shape('a response that ended with an unknown finish reason', 'I was', [{ text: 'I was' }], {
    finishReason: 'REASON_OF_TOMORROW',
  }),
  ...[
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
    'NO_IMAGE',
    'IMAGE_OTHER',
    'OTHER',
  ].map((finishReason) =>
    shape(
      `a response that failed with ${finishReason}`,
      '',
      undefined,
      { finishReason, finishMessage: 'Because.' },
      {},
      'failed',
    ),
  ),
  ...[
    'SAFETY',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'IMAGE_SAFETY',
    'OTHER',
    'BLOCK_REASON_UNSPECIFIED',
    'JAILBREAK',
    'MODEL_ARMOR',
  ].map((blockReason): VendorShape => ({
    name: `a prompt blocked with ${blockReason}`,
    text: '',
    status: 'incomplete',
    textsNotReturned: [],
    vendor: 'google',
    wire: 'gemini',
    body: {
      promptFeedback: { blockReason, safetyRatings: [] },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'rid-2',
    },
  })),
];
