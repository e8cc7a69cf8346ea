/**
 * Every method of the official SDKs is either tested through the gateway or listed here as one that it does not serve,
 * so that a method added by a new version, or by the gateway, is noticed.
 */
import Anthropic from '@anthropic-ai/sdk';
import { ChatSession, GenerativeModel } from '@google/generative-ai';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { ANTHROPIC_BETA_CASES, ANTHROPIC_MESSAGES_CASES, ANTHROPIC_MODELS_CASES } from '../support/sdks/anthropicCases';
import { GENERATIVE_AI_CASES } from '../support/sdks/generativeAICases';
import { GOOGLE_GENAI_CASES } from '../support/sdks/googleGenAICases';
import { GROQ_CASES } from '../support/sdks/groqCases';
import { OPENAI_CHAT_CASES } from '../support/sdks/openaiChatCases';
import { OPENAI_BETA_CASES, OPENAI_ITEMS_CASES, OPENAI_MODELS_CASES } from '../support/sdks/openaiBetaCases';
import { OPENAI_RESPONSES_CASES } from '../support/sdks/openaiResponsesCases';
import { methodsOf } from '../support/sdks/methodsOf';

interface Surface {
  readonly client: object;
  readonly tested: readonly object[];
  /** Methods, or resources with all their methods, that other suites test. */
  readonly testedElsewhere?: readonly string[];
  /** Methods, or resources with all their methods, that the gateway does not serve. */
  readonly notServed: readonly string[];
  /** Methods that the SDK declares as private. */
  readonly internal?: readonly string[];
}

const SURFACES: Readonly<Record<string, Surface>> = {
  openai: {
    client: new OpenAI({ apiKey: 'none' }),
    tested: [OPENAI_CHAT_CASES, OPENAI_RESPONSES_CASES, OPENAI_BETA_CASES, OPENAI_ITEMS_CASES, OPENAI_MODELS_CASES],
    testedElsewhere: [
      ...['embeddings', 'files', 'batches', 'images', 'conversations'],
      ...['speech', 'transcriptions', 'translations'].map((name) => `audio.${name}`),
    ],
    notServed: [
      // Stored chat completions, which OpenAI alone has.
      ...['retrieve', 'update', 'list', 'delete', 'messages'].map((name) => `chat.completions.${name}`),
      'models.delete',
      ...['audio.voices', 'audio.voiceConsents'],
      ...['completions', 'moderations', 'fineTuning', 'vectorStores', 'uploads', 'evals', 'containers', 'skills'],
      ...['videos', 'live', 'realtime', 'webhooks', 'admin', 'decisions', 'contentProvenanceChecks', 'safety'],
      ...['agents', 'assistants', 'threads', 'chatkit', 'realtime'].map((name) => `beta.${name}`),
    ],
  },
  anthropic: {
    client: new Anthropic({ apiKey: 'none' }),
    tested: [ANTHROPIC_MESSAGES_CASES, ANTHROPIC_BETA_CASES, ANTHROPIC_MODELS_CASES],
    testedElsewhere: ['messages.batches', 'beta.files'],
    notServed: [
      ...['files', 'beta.messages.batches'],
      ...['skills', 'userProfiles', 'organization'].flatMap((name) => [name, `beta.${name}`]),
      ...['agents', 'environments', 'sessions', 'deployments', 'deploymentRuns', 'vaults', 'memoryStores'].map(
        (name) => `beta.${name}`,
      ),
      ...['webhooks', 'dreams', 'tunnels'].map((name) => `beta.${name}`),
    ],
  },
  'groq-sdk': {
    client: new Groq({ apiKey: 'none' }),
    tested: [GROQ_CASES],
    testedElsewhere: ['embeddings', 'batches', 'files', 'audio'],
    notServed: ['models.delete'],
  },
  '@google/genai': {
    client: new GoogleGenAI({ apiKey: 'none' }),
    tested: [GOOGLE_GENAI_CASES],
    testedElsewhere: ['models.embedContent'],
    notServed: [
      ...['computeTokens', 'update', 'delete'].map((name) => `models.${name}`),
      ...['generateImages', 'editImage', 'upscaleImage', 'recontextImage', 'segmentImage', 'generateVideos'].map(
        (name) => `models.${name}`,
      ),
      ...['live', 'batches', 'caches', 'files', 'operations', 'authTokens', 'tunings', 'fileSearchStores'],
      ...['interactions', 'webhooks', 'agents', 'triggers', 'environments', 'credentials', 'voices'],
    ],
    internal: [
      ...['generateContentWithContinuation', 'generateContentStreamWithContinuation', 'maybeMoveToResponseJsonSchema'],
      ...['processParamsMaybeAddMcpUsage', 'initAfcToolsMap', 'processAfcStream'],
    ].map((name) => `models.${name}`),
  },
  '@google/generative-ai': {
    client: GenerativeModel.prototype,
    tested: [GENERATIVE_AI_CASES],
    testedElsewhere: ['embedContent', 'batchEmbedContents'],
    notServed: [],
  },
};

const isBelow = (method: string, name: string): boolean => method === name || method.startsWith(`${name}.`);

for (const [name, { client, tested, testedElsewhere = [], notServed, internal = [] }] of Object.entries(SURFACES)) {
  describe(`The methods of ${name}`, () => {
    const methods = methodsOf(client);
    const cases = tested.flatMap((table) => Object.keys(table));

    it('are tested or listed as not served', () => {
      const known = [...cases, ...testedElsewhere, ...notServed, ...internal];
      expect(methods.filter((method) => !known.some((entry) => isBelow(method, entry)))).to.deep.equal([]);
    });

    it('exist if they are tested or listed', () => {
      const missing = [...cases, ...testedElsewhere, ...notServed, ...internal].filter(
        (entry) => !methods.some((method) => isBelow(method, entry)),
      );
      expect(missing).to.deep.equal([]);
    });

    it('are not listed as not served if they are tested', () => {
      const served = [...cases, ...testedElsewhere];
      expect(served.filter((method) => notServed.some((entry) => isBelow(method, entry)))).to.deep.equal([]);
    });
  });
}

describe('The methods of a chat of @google/generative-ai', () => {
  it('are those that the cases of startChat call', () => {
    expect(methodsOf(ChatSession.prototype)).to.have.members(['getHistory', 'sendMessage', 'sendMessageStream']);
  });
});
