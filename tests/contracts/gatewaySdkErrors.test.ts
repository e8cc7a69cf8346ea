/** What the official SDKs throw: their own error classes, whichever vendor fails, and nothing is left running. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import { GoogleGenerativeAIFetchError } from '@google/generative-ai';
import { expect } from 'chai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import type { VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import { failure } from '../support/failure';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { genAIOf } from '../support/sdks/googleGenAICases';
import { generativeModelOf } from '../support/sdks/generativeAICases';
import { SDK_VENDORS } from '../support/sdks/SdkCase';
import { allInSoak, sampled } from '../support/soak';
import { VirtualTime } from '../support/VirtualTime';

type ErrorClass = abstract new (...args: never[]) => Error;
type Kind = 'invalid' | 'unauthenticated' | 'forbidden' | 'unknown' | 'limited' | 'failed';

interface SdkOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly signal?: AbortSignal;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly text?: string;
  /** Reads all of a stream. */
  readonly stream?: boolean;
}

interface Sdk {
  /** The SDK's own. */
  readonly vendor: VendorName;
  call(model: string, options: SdkOptions): Promise<unknown>;
  readonly classes: Readonly<Record<Kind, ErrorClass>>;
  readonly timedOut: ErrorClass;
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

const ask = ({ text = 'Hello?' }: SdkOptions) => [{ role: 'user' as const, content: text }];
const clientOptions = ({ apiKey, timeout }: SdkOptions) => ({
  apiKey,
  maxRetries: 0,
  ...(timeout === undefined ? {} : { timeout }),
});
const callOptions = ({ signal }: SdkOptions) => (signal === undefined ? {} : { signal });

/** The classes of the SDKs that Stainless generates. */
const classesOf = (sdk: typeof OpenAI | typeof Anthropic | typeof Groq): Pick<Sdk, 'classes' | 'timedOut'> => ({
  classes: {
    invalid: sdk.BadRequestError,
    unauthenticated: sdk.AuthenticationError,
    forbidden: sdk.PermissionDeniedError,
    unknown: sdk.NotFoundError,
    limited: sdk.RateLimitError,
    failed: sdk.InternalServerError,
  },
  timedOut: sdk.APIConnectionTimeoutError,
});

const sameClass = (errorClass: ErrorClass): Sdk['classes'] => ({
  invalid: errorClass,
  unauthenticated: errorClass,
  forbidden: errorClass,
  unknown: errorClass,
  limited: errorClass,
  failed: errorClass,
});

const SDKS: Readonly<Record<string, Sdk>> = {
  'OpenAI chat': {
    vendor: 'openai',
    async call(model, options) {
      const client = new OpenAI({ ...clientOptions(options), baseURL: `${options.url}/v1` });
      const body = { model, messages: ask(options) };
      if (options.stream === true)
        return drain(await client.chat.completions.create({ ...body, stream: true }, callOptions(options)));
      return client.chat.completions.create(body, callOptions(options));
    },
    ...classesOf(OpenAI),
  },
  'OpenAI responses': {
    vendor: 'openai',
    async call(model, options) {
      const client = new OpenAI({ ...clientOptions(options), baseURL: `${options.url}/v1` });
      const body = { model, input: options.text ?? 'Hello?' };
      if (options.stream === true)
        return drain(await client.responses.create({ ...body, stream: true }, callOptions(options)));
      return client.responses.create(body, callOptions(options));
    },
    ...classesOf(OpenAI),
  },
  Anthropic: {
    vendor: 'anthropic',
    async call(model, options) {
      const client = new Anthropic({ ...clientOptions(options), authToken: null, baseURL: options.url });
      const body = { model, max_tokens: 100, messages: ask(options) };
      if (options.stream === true)
        return drain(await client.messages.create({ ...body, stream: true }, callOptions(options)));
      return client.messages.create(body, callOptions(options));
    },
    ...classesOf(Anthropic),
  },
  Groq: {
    vendor: 'groq',
    async call(model, options) {
      const client = new Groq({ ...clientOptions(options), baseURL: options.url });
      const body = { model, messages: ask(options) };
      if (options.stream === true)
        return drain(await client.chat.completions.create({ ...body, stream: true }, callOptions(options)));
      return client.chat.completions.create(body, callOptions(options));
    },
    ...classesOf(Groq),
  },
  'Google @google/genai': {
    vendor: 'google',
    async call(model, { url, apiKey, text = 'Hello?', signal, timeout, stream }) {
      const { models } = genAIOf({ gateway: { url } }, undefined, apiKey);
      const config = {
        ...(signal === undefined ? {} : { abortSignal: signal }),
        ...(timeout === undefined ? {} : { httpOptions: { timeout } }),
      };
      const params = { model, contents: text, config };
      return stream === true ? drain(await models.generateContentStream(params)) : models.generateContent(params);
    },
    classes: sameClass(ApiError),
    timedOut: Error,
  },
  'Google @google/generative-ai': {
    vendor: 'google',
    async call(model, { url, apiKey, text = 'Hello?', signal, timeout, stream }) {
      const client = generativeModelOf({ gateway: { url }, model }, {}, undefined, apiKey);
      const options = {
        ...(signal === undefined ? {} : { signal }),
        ...(timeout === undefined ? {} : { timeout }),
      };
      if (stream === true) return drain((await client.generateContentStream(text, options)).stream);
      return client.generateContent(text, options);
    },
    classes: sameClass(GoogleGenerativeAIFetchError),
    timedOut: Error,
  },
};

/** What a vendor responds, by the kind of error that it means. */
const VENDOR_ERRORS: readonly { readonly status: number; readonly kind: Kind }[] = [
  { status: 400, kind: 'invalid' },
  { status: 404, kind: 'unknown' },
  { status: 429, kind: 'limited' },
  { status: 500, kind: 'failed' },
  { status: 503, kind: 'failed' },
  { status: 529, kind: 'failed' },
];

const ERRORS = VENDOR_ERRORS.flatMap((error) => [false, true].map((stream) => ({ ...error, stream })));

const STATUS_OF_KIND: Readonly<Record<Kind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  unknown: 404,
  limited: 429,
  failed: 500,
};

function expectKind(error: unknown, { classes }: Sdk, kind: Kind): void {
  expect(error).to.be.instanceOf(classes[kind]);
  const { status } = error as { readonly status: number };
  if (kind === 'failed') expect(status).to.be.within(500, 599);
  else expect(status).to.equal(STATUS_OF_KIND[kind]);
}

for (const [name, sdk] of Object.entries(SDKS)) {
  describe(`The errors of ${name}`, () => {
    let gateway: Gateway;
    let options: SdkOptions;
    beforeEach(async () => {
      gateway = await startGateway({ api: { limits: { maxBodyBytes: 20_000 } } });
      options = { url: gateway.url, apiKey: TOKENS.ann };
    });
    afterEach(async () => {
      await gateway.close();
      expect(gateway.unexpected).to.deep.equal([]);
    });

    for (const vendor of allInSoak(SDK_VENDORS, 1)) {
      for (const { status, kind, stream } of sampled(ERRORS, (error) => [
        error.status,
        `${error.kind} ${error.stream}`,
      ]))
        it(`state that ${vendor} answered ${status}${stream ? ' to a stream' : ''}`, async () => {
          gateway.simulator.enqueue({ status, body: { error: { message: 'That did not work.', type: 'x' } } });
          const error = await failure(sdk.call(vendor, { ...options, stream }));
          expectKind(error, sdk, kind);
          expect((error as Error).message).to.include('That did not work.');
        });

      it(`state that the connection to ${vendor} broke`, async () => {
        gateway.simulator.enqueue({ text: 'x', fault: { kind: 'reset' } });
        expectKind(await failure(sdk.call(vendor, options)), sdk, 'failed');
      });

      for (const stream of [false, true]) {
        it(`end the call of ${vendor} when the client aborts${stream ? ' a stream' : ''}`, async () => {
          gateway.simulator.enqueue({
            text: 'one two three four five six',
            fault: { kind: 'stall', after: stream ? { events: 2 } : 'nothing' },
          });
          const arrived = gateway.simulator.nextRequest();
          const aborted = gateway.simulator.nextAbort();
          const controller = new AbortController();
          const outcome = sdk.call(vendor, { ...options, stream, signal: controller.signal }).catch(String);
          await arrived;
          controller.abort();
          await outcome;
          expect((await aborted).vendor).to.equal(vendor);
        });
      }
    }

    it('state a timeout of the client, which ends the call', async () => {
      const time = VirtualTime.start();
      try {
        gateway.simulator.enqueue({ text: 'x', fault: { kind: 'stall', after: 'nothing' } });
        const [arrived, aborted] = [gateway.simulator.nextRequest(), gateway.simulator.nextAbort()];
        const outcome = failure(sdk.call(sdk.vendor, { ...options, timeout: 3_000 }));
        await arrived;
        await time.pass(3_000);
        expect(await outcome).to.be.instanceOf(sdk.timedOut);
        await aborted;
      } finally {
        time.stop();
      }
    });

    it('state what the gateway refuses', async () => {
      const cases: readonly (readonly [Kind, string, Partial<SdkOptions>])[] = [
        ['unauthenticated', 'openai', { apiKey: 'wrong' }],
        ['forbidden', 'openai', { apiKey: TOKENS.reader }],
        ['unknown', 'nothing', {}],
      ];
      for (const [kind, model, changes] of cases)
        for (const stream of [false, true])
          expectKind(await failure(sdk.call(model, { ...options, ...changes, stream })), sdk, kind);
      const tooLarge = await failure(sdk.call('openai', { ...options, text: 'x'.repeat(30_000) }));
      expect(tooLarge).to.have.property('status', 413);
    });
  });
}
