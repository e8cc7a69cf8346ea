import { expect } from 'chai';
import { normalizeInput } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMClient } from '../../../../../imports/business/ai/application/services/LLMClient';
import type { LLMClientOptions } from '../../../../../imports/business/ai/application/services/LLMClient';
import { textOfContent } from '../../../../../imports/business/ai/domain/entities/Content';
import {
  LLMAbortedError,
  LLMError,
  LLMInvalidRequestError,
  LLMOverloadedError,
  LLMRateLimitError,
  LLMRefusalError,
  LLMTimeoutError,
  isLLMError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { failure } from '../../../../support/failure';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { answer, refusing } from '../../../../../imports/testing/responses';
import { seededRandom } from '../../../../../scripts/seed/seededRandom';
import { untilAborted } from '../../../../../imports/testing/ScriptedProvider';

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;

/**
 * Answers `{ n }` for the question `n`, after a number of turns of the event loop that is determined by the
 * seed.
 */
class Crowd {
  readonly asked: { readonly question: string; readonly previous: string | undefined; readonly id: string }[] = [];
  readonly finished: string[] = [];
  inFlight = 0;
  mostInFlight = 0;
  private readonly random: () => number;
  private readonly fail: (question: string) => Error | LLMResponse | undefined;

  constructor(seed = 1, fail: (question: string) => Error | LLMResponse | undefined = () => undefined) {
    this.random = seededRandom(seed);
    this.fail = fail;
  }

  generate = async (_userId: string, options: GenerateOptions): Promise<LLMResponse> => {
    const [item] = normalizeInput(options.input);
    const question = item?.type === 'message' ? textOfContent(item.content) : '';
    const id = `resp_${question}`;
    this.asked.push({ question, previous: options.previous_response_id, id });
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    try {
      for (let turns = Math.floor(this.random() * 12); turns >= 0; turns -= 1)
        await new Promise<void>((resolve) => setImmediate(resolve));
      options.signal?.throwIfAborted();
      const failed = this.fail(question);
      if (failed instanceof Error) throw failed;
      return failed ?? answer(JSON.stringify({ n: Number(question) }), { id });
    } finally {
      this.inFlight -= 1;
      this.finished.push(question);
    }
  };
}

function clientOf(provider: LLMClientOptions['provider'], options: Partial<LLMClientOptions> = {}) {
  const logger = new RecordingLogger();
  return { logger, client: new LLMClient({ provider, userId: 'ann', model: 'm', logger, ...options }) };
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const requests = (count: number) => numbers(count).map((n) => ({ input: String(n), schema }));

describe('LLMClient.createBatch', () => {
  for (const seed of [1, 2, 3]) {
    it(`returns 200 results in request order although 30 % of the requests fail, seed ${seed}`, async () => {
      const random = seededRandom(seed + 100);
      const failing = new Set(
        numbers(200)
          .filter(() => random() < 0.3)
          .map(String),
      );
      const crowd = new Crowd(seed, (question) =>
        failing.has(question) ? new LLMOverloadedError(`busy at ${question}`) : undefined,
      );
      const results = await clientOf(crowd).client.createBatch(requests(200));
      expect(failing.size).to.be.within(40, 80);
      expect(crowd.finished, 'the answers came out of order').not.to.deep.equal(numbers(200).map(String));
      expect(results).to.have.length(200);
      results.forEach((result, index) => {
        if (failing.has(String(index)))
          expect(result).to.be.instanceOf(LLMOverloadedError).with.property('message', `busy at ${index}`);
        else
          expect(result)
            .to.deep.include({ ok: true, value: { n: index } })
            .and.to.have.nested.property('response.id', `resp_${index}`);
      });
    });
  }

  it('runs 8 requests at once, or as many as concurrency states', async () => {
    const usual = new Crowd();
    await clientOf(usual).client.createBatch(requests(40));
    expect(usual.mostInFlight).to.equal(8);
    const limited = new Crowd();
    await clientOf(limited).client.createBatch(requests(40), { concurrency: 3 });
    expect(limited.mostInFlight).to.equal(3);
    const one = new Crowd();
    await clientOf(one).client.createBatch(requests(10), { concurrency: 1 });
    expect(one.finished).to.deep.equal(numbers(10).map(String));
  });

  it('runs requests with one entity key in request order and all others concurrently', async () => {
    const entities = ['ann', 'bob', 'eve'].map((id) => ({
      identity: { id },
      _openai: undefined as { talk_chain: string[]; usage: { total_requests: number } } | undefined,
    }));
    const failing = new Set(['3', '17', '40']);
    const crowd = new Crowd(7, (question) => (failing.has(question) ? new LLMTimeoutError('slow') : undefined));
    const { client } = clientOf(crowd, { entities, defaultDepth: 100 });
    const keys = numbers(60).map((n) => [`talk:ann`, 'talk:bob', 'talk:eve', undefined][n % 4]);
    const results = await client.createBatch(
      numbers(60).map((n) => ({ input: String(n), schema, ...(keys[n] === undefined ? {} : { entityKey: keys[n] }) })),
    );
    expect(crowd.mostInFlight).to.equal(8);
    for (const { identity, _openai } of entities) {
      const own = numbers(60)
        .filter((n) => keys[n] === `talk:${identity.id}`)
        .map(String);
      const ownAsked = crowd.asked.filter(({ question }) => own.includes(question));
      expect(ownAsked.map(({ question }) => question)).to.deep.equal(own);
      const answered = own.filter((question) => !failing.has(question));
      expect(_openai?.talk_chain).to.deep.equal(answered.map((question) => `resp_${question}`));
      expect(_openai?.usage.total_requests).to.equal(answered.length);
      ownAsked.forEach(({ question, previous }) => {
        const before = answered.filter((other) => own.indexOf(other) < own.indexOf(question)).at(-1);
        expect(previous).to.equal(before === undefined ? undefined : `resp_${before}`);
      });
    }
    expect(results.filter(isLLMError)).to.have.length(3);
  });

  it('does not let waiting requests of one entity block the others', async () => {
    const crowd = new Crowd(5);
    const entities = [{ identity: { id: 'bob' } }];
    const batch = [
      ...numbers(20).map((n) => ({ input: String(n), schema, entityKey: 'talk:bob' })),
      ...numbers(20).map((n) => ({ input: String(n + 20), schema })),
    ];
    await clientOf(crowd, { entities, defaultDepth: 1 }).client.createBatch(batch);
    expect(crowd.mostInFlight).to.equal(8);
    expect(crowd.finished.indexOf('39')).to.be.lessThan(crowd.finished.indexOf('19'));
  });

  it('returns every kind of failure at its index and never rejects', async () => {
    const outcomes: readonly (Error | LLMResponse | undefined)[] = [
      undefined,
      new LLMRateLimitError('slow down'),
      refusing('No.'),
      new TypeError('a bug'),
      answer('no JSON'),
      undefined,
    ];
    const crowd = new Crowd(1, (question) => outcomes[Number(question)]);
    const results = await clientOf(crowd).client.createBatch(requests(6));
    expect(results.map((result) => (isLLMError(result) ? result.code : result.value))).to.deep.equal([
      { n: 0 },
      'rate-limited',
      'refused',
      'vendor-error',
      'invalid-output',
      { n: 5 },
    ]);
    expect(results[2]).to.be.instanceOf(LLMRefusalError);
  });

  it('returns an empty array for an empty batch', async () => {
    const { client, logger } = clientOf(new Crowd());
    expect(await client.createBatch([])).to.deep.equal([]);
    expect(logger.warnings).to.deep.equal([]);
  });

  it('logs the number of rate-limited requests in a single warning', async () => {
    const crowd = new Crowd(1, (question) =>
      Number(question) % 4 === 0 ? new LLMRateLimitError('slow down') : undefined,
    );
    const { client, logger } = clientOf(crowd);
    await client.createBatch(requests(20));
    expect(logger.warnings).to.have.length(1);
    expect(logger.warnings[0]).to.match(/\b5 of the 20 requests\b/);
    await client.createBatch(requests(4).slice(1));
    expect(logger.warnings).to.have.length(1);
  });

  it('reports progress after every request, failed ones included', async () => {
    const crowd = new Crowd(1, (question) => (question === '2' ? new LLMTimeoutError('slow') : undefined));
    const progress: [number, number][] = [];
    await clientOf(crowd).client.createBatch(requests(12), {
      onProgress: (done, total) => progress.push([done, total]),
    });
    expect(progress).to.deep.equal(numbers(12).map((n) => [n + 1, 12]));
  });

  it('continues if the progress callback throws', async () => {
    const { client, logger } = clientOf(new Crowd());
    const results = await client.createBatch(requests(3), {
      onProgress: () => {
        throw new Error('no terminal');
      },
    });
    expect(results.filter(isLLMError)).to.deep.equal([]);
    expect(logger.errors).to.have.length(3);
  });

  it('aborts running requests, starts no others, and still returns a result for each', async () => {
    const controller = new AbortController();
    let begun = 0;
    const provider = {
      generate: (_userId: string, options: GenerateOptions): Promise<LLMResponse> => {
        begun += 1;
        if (begun === 10) queueMicrotask(() => controller.abort(new Error('enough')));
        return begun <= 3 ? Promise.resolve(answer('{"n":1}')) : untilAborted(options);
      },
    };
    const results = await clientOf(provider).client.createBatch(requests(50), { signal: controller.signal });
    expect(begun).to.be.within(10, 11);
    expect(results).to.have.length(50);
    expect(results.slice(0, 3).every((result) => !isLLMError(result))).to.equal(true);
    for (const result of results.slice(3)) expect(result).to.be.instanceOf(LLMAbortedError);
  });

  it('makes no call for a batch that was aborted before it started', async () => {
    const crowd = new Crowd();
    const entities = [{ identity: { id: 'bob' } }];
    const batch = numbers(5).map((n) => ({ input: String(n), schema, entityKey: 'talk:bob' }));
    const results = await clientOf(crowd, { entities, defaultDepth: 1 }).client.createBatch(batch, {
      signal: AbortSignal.abort(new Error('late')),
    });
    expect(results.map((result) => isLLMError(result) && result.code)).to.deep.equal(
      Array.from({ length: 5 }, () => 'aborted'),
    );
    expect(crowd.asked).to.deep.equal([]);
    expect(entities).to.deep.equal([{ identity: { id: 'bob' } }]);
  });

  it('aborts a single request by its own signal', async () => {
    const crowd = new Crowd();
    const batch = requests(3).map((request, index) =>
      index === 1 ? { ...request, signal: AbortSignal.abort(new Error('not this one')) } : request,
    );
    const results = await clientOf(crowd).client.createBatch(batch, { signal: new AbortController().signal });
    expect(results.map((result) => (isLLMError(result) ? result.code : result.value))).to.deep.equal([
      { n: 0 },
      'aborted',
      { n: 2 },
    ]);
  });

  it('rejects an invalid concurrency before any call', async () => {
    const crowd = new Crowd();
    const { client } = clientOf(crowd);
    for (const concurrency of [0, -1, 1.5, NaN])
      expect(await failure(client.createBatch(requests(2), { concurrency }))).to.be.instanceOf(LLMInvalidRequestError);
    expect(crowd.asked).to.deep.equal([]);
  });

  it('returns typed results that isLLMError and ok distinguish', async () => {
    const [result] = await clientOf(new Crowd()).client.createBatch(requests(1));
    if (result === undefined || !('ok' in result))
      throw result instanceof LLMError ? result : new Error('there is no result');
    const n: number = result.value.n;
    // @ts-expect-error the schema has no such property
    expect(result.value.size).to.equal(undefined);
    expect(n).to.equal(0);
  });
});
