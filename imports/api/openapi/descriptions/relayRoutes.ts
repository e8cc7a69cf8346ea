/** Files, batches, images, audio and moderations, which are relayed to their vendors. */
import { ANYTHING, described, listOf, OBJECT, objectOf, TEXT } from '../jsonSchemas';
import type { RouteDescription, RouteDescriptions } from '../RouteDescription';

const PROVIDER = {
  provider: described(TEXT, 'The id of the provider; the header `x-bolide-provider` names one, too.'),
};
const FORM = 'As `multipart/form-data`, with the field `model`.';
const FILE = objectOf({ id: TEXT });
const FILES = objectOf({ data: listOf(FILE) });
const BATCH = objectOf({ id: TEXT });
const BATCHES = objectOf({ data: listOf(BATCH) });

const relayed = (description: RouteDescription): RouteDescription => ({ query: PROVIDER, ...description });

export const RELAY_ROUTES: RouteDescriptions = {
  'POST /v1/files': relayed({
    summary: 'Upload a file',
    description: 'As `multipart/form-data`. With the header `anthropic-version`, the files are Anthropic’s.',
    result: FILE,
  }),
  'GET /v1/files': relayed({ summary: 'List one’s own files', result: FILES }),
  'GET /v1/files/:id': relayed({ summary: 'Read what is known of a file', result: FILE }),
  'DELETE /v1/files/:id': relayed({ summary: 'Delete a file', result: FILE }),
  'GET /v1/files/:id/content': relayed({
    summary: 'Download a file',
    content: ['application/octet-stream'],
  }),
  'POST /v1/batches': relayed({
    summary: 'Create a batch from a file of requests',
    body: objectOf({ input_file_id: TEXT, endpoint: TEXT, completion_window: TEXT }, { metadata: OBJECT }),
    result: BATCH,
  }),
  'GET /v1/batches': relayed({ summary: 'List one’s own batches', result: BATCHES }),
  'GET /v1/batches/:id': relayed({ summary: 'Read a batch', result: BATCH }),
  'POST /v1/batches/:id/cancel': relayed({ summary: 'Cancel a batch', result: BATCH }),
  'POST /v1/messages/batches': relayed({
    summary: 'Create a batch of messages',
    body: objectOf({ requests: listOf(objectOf({ custom_id: TEXT, params: OBJECT })) }),
    example: {
      requests: [
        {
          custom_id: 'first',
          params: {
            model: 'claude-sonnet-5-5',
            max_tokens: 100,
            messages: [{ role: 'user', content: 'Hello!' }],
          },
        },
      ],
    },
    result: BATCH,
  }),
  'GET /v1/messages/batches': relayed({ summary: 'List one’s own batches of messages', result: BATCHES }),
  'GET /v1/messages/batches/:id': relayed({ summary: 'Read a batch of messages', result: BATCH }),
  'DELETE /v1/messages/batches/:id': relayed({ summary: 'Delete a batch of messages', result: BATCH }),
  'GET /v1/messages/batches/:id/results': relayed({
    summary: 'Read the results of a batch of messages',
    content: ['application/x-jsonl'],
  }),
  'POST /v1/messages/batches/:id/cancel': relayed({ summary: 'Cancel a batch of messages', result: BATCH }),
  'POST /v1/moderations': {
    summary: 'Judge texts and images',
    description: 'By a model of OpenAI or of a compatible host; others answer 501.',
    body: objectOf({ input: ANYTHING }, { model: TEXT }),
    result: OBJECT,
  },
  'POST /v1/images/generations': {
    summary: 'Generate images',
    body: objectOf({ model: TEXT, prompt: TEXT }),
    result: OBJECT,
    streams: 'on-request',
  },
  'POST /v1/images/edits': { summary: 'Edit images', description: FORM, result: OBJECT, streams: 'on-request' },
  'POST /v1/images/variations': { summary: 'Vary an image', description: FORM, result: OBJECT },
  'POST /v1/audio/speech': {
    summary: 'Speak a text',
    body: objectOf({ model: TEXT, input: TEXT }, { voice: ANYTHING }),
    content: ['audio/mpeg'],
  },
  'POST /v1/audio/transcriptions': {
    summary: 'Transcribe audio',
    description: FORM,
    result: OBJECT,
    streams: 'on-request',
  },
  'POST /v1/audio/translations': { summary: 'Translate audio into English', description: FORM, result: OBJECT },
};
