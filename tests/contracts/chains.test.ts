import { expect } from 'chai';
import { LLMClient } from '../../imports/business/ai/application/services/LLMClient';
import { StatefulProvider } from '../../imports/business/ai/application/services/routing/StatefulProvider';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { FunctionTool } from '../../imports/business/ai/domain/entities/Tool';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryResponseStore } from '../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { failure } from '../support/failure';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import type { RuleModel } from '../../imports/simulator/model/RuleModel';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

/** A model that answers with every user message that it received. */
const echo: RuleModel = {
  respond: ({ turns }) => ({
    calls: [],
    text: JSON.stringify({ heard: turns.flatMap((turn) => (turn.type === 'user' ? [turn.text] : [])) }),
    ending: 'complete',
  }),
};

const schema = {
  type: 'object',
  properties: { heard: { type: 'array', items: { type: 'string' } } },
  required: ['heard'],
  additionalProperties: false,
} as const;
const weather: FunctionTool = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

interface Bob {
  readonly identity: { readonly id: string };
  readonly _openai?: {
    readonly intention_chain?: readonly string[];
    readonly usage?: { readonly total_requests: number };
  };
}

for (const vendor of SIMULATED_VENDORS) {
  describe(`chains on ${vendor.name}`, () => {
    let simulator: Simulator;
    let provider: ILLMProvider;
    let bob: Bob;
    let keepsState: boolean;
    before(async () => {
      simulator = await startSimulator({ model: echo });
      provider = simulatedProvider(simulator, vendor);
      ({ keepsState } = provider.getCapabilities(vendor.model));
    });
    after(() => simulator.close());
    beforeEach(() => {
      bob = { identity: { id: 'bob' } };
    });

    const responseStore = new MemoryResponseStore();
    const client = (defaultDepth: number): LLMClient =>
      new LLMClient({ provider, userId: 'ann', entities: [bob], defaultDepth, model: vendor.model, responseStore });
    const chain = (): readonly string[] => bob._openai?.intention_chain ?? [];
    const ask = async (asked: LLMClient, input: string): Promise<readonly string[]> =>
      (await asked.createResponse({ instructions: 'Repeat.', input, schema, entityKey: 'intention:bob' })).heard;

    it('preserves the context from one response to the next', async () => {
      const asked = client(3);
      expect(await ask(asked, 'one')).to.deep.equal(['one']);
      expect(await ask(asked, 'two')).to.deep.equal(['one', 'two']);
      expect(await ask(asked, 'three')).to.deep.equal(['one', 'two', 'three']);
      expect(chain()).to.have.length(3);
      expect(new Set(chain()).size).to.equal(3);
      expect(bob._openai?.usage?.total_requests).to.equal(3);
    });

    it('shares no context between requests without a chain', async () => {
      const asked = client(0);
      expect(await ask(asked, 'one')).to.deep.equal(['one']);
      expect(await ask(asked, 'two')).to.deep.equal(['two']);
      expect(chain()).to.deep.equal([]);
    });

    it('slides the window: the oldest response is deleted and cannot be continued', async () => {
      const asked = client(2);
      await ask(asked, 'one');
      const [first] = chain();
      await ask(asked, 'two');
      await ask(asked, 'three');
      expect(chain()).to.have.length(2).and.not.to.include(first);
      const heard = await ask(asked, 'four');
      // A vendor that stores responses stores the entire conversation with each; elsewhere only the window remains.
      expect(heard).to.deep.equal(keepsState ? ['one', 'two', 'three', 'four'] : ['two', 'three', 'four']);
      const stateful = new StatefulProvider({ provider, store: responseStore, trustsIds: true });
      const goOn = (id: string): Promise<LLMResponse> =>
        stateful.generate('ann', { model: vendor.model, input: 'go on', previous_response_id: id });
      const error = await failure(goOn(first!));
      expect(isLLMError(error) && error.code).to.equal('invalid-request');
      expect((await goOn(chain()[0]!)).output_text).to.contain('go on');
    });

    it('rejects the continuation of a deleted response, and leaves chain and usage unchanged', async () => {
      const asked = client(2);
      await ask(asked, 'one');
      const bobBefore = structuredClone(bob);
      (bob._openai!.intention_chain as string[]).push('resp_0000000000000000000000000000000000000000000000000');
      const error = await failure(ask(asked, 'two'));
      expect(isLLMError(error)).to.equal(true);
      expect((error as Error).message).to.contain('not found');
      expect(chain()).to.deep.equal([
        ...bobBefore._openai!.intention_chain!,
        'resp_0000000000000000000000000000000000000000000000000',
      ]);
      expect(bob._openai!.usage).to.deep.equal(bobBefore._openai!.usage);
    });

    describe('through a response store', () => {
      let store: MemoryResponseStore;
      let stateful: StatefulProvider;
      beforeEach(() => {
        store = new MemoryResponseStore();
        stateful = new StatefulProvider({ provider, store });
      });
      const turn = (
        input: Parameters<ILLMProvider['generate']>[1]['input'],
        previous?: LLMResponse,
      ): Promise<LLMResponse> =>
        stateful.generate('ann', {
          model: vendor.model,
          input,
          store: true,
          tools: [weather],
          ...(previous === undefined ? {} : { previous_response_id: previous.id }),
        });

      it('keeps a call paired with its result after the response with the call was evicted', async () => {
        simulator.enqueue(
          { calls: [{ name: 'weather', arguments: { city: 'Rome' } }] },
          { text: 'Sunny.' },
          { text: 'You are welcome.' },
        );
        const called = await turn('How is Rome?');
        const call = called.output.find((item) => item.type === 'function_call');
        const answered = await turn(
          [{ type: 'function_call_output', call_id: call!.call_id, output: 'sun, 30 degrees' }],
          called,
        );
        await stateful.deleteResponse('ann', called.id);
        const last = await turn('Thanks.', answered);
        expect(last.output_text).to.equal('You are welcome.');
        expect(last.previous_response_id).to.equal(answered.id);
        const sent = JSON.stringify(simulator.requests.findLast(({ method }) => method === 'POST')?.body);
        if (keepsState) expect(sent).not.to.contain('sun, 30 degrees');
        else expect(sent).to.contain('sun, 30 degrees').and.to.contain('Rome').and.not.to.contain('How is Rome?');
        if (!keepsState) expect(sent).to.match(PAIRED[vendor.wire]!);
        simulator.assertDone();
      });

      it('treats another user’s response like an unknown one', async () => {
        const mine = await turn('one');
        const [theirs, unknown] = await Promise.all(
          [mine.id, 'resp_1'].map((id) =>
            failure(stateful.generate('eve', { model: vendor.model, input: 'go on', previous_response_id: id })),
          ),
        );
        expect((theirs as Error).message.replace(mine.id, 'resp_1')).to.equal((unknown as Error).message);
        await stateful.deleteResponse('eve', mine.id);
        expect((await turn('two', mine)).output_text).to.equal('{"heard":["one","two"]}');
      });

      it('continues from a streamed answer', async () => {
        let streamed: LLMResponse | undefined;
        for await (const event of stateful.stream('ann', { model: vendor.model, input: 'one', store: true })) {
          if (event.type === 'response.completed') streamed = event.response;
        }
        expect((await turn('two', streamed)).output_text).to.equal('{"heard":["one","two"]}');
      });
    });
  });
}

/** A call directly followed by its result, in the format of each wire without stored responses. */
const PAIRED: Readonly<Record<string, RegExp>> = {
  chat_completions: /"tool_calls":\[.*"role":"tool"/,
  anthropic_messages: /"type":"tool_use".*"type":"tool_result"/,
  gemini: /"functionCall":.*"functionResponse":/,
};

const REASONING = [
  {
    name: 'Anthropic',
    vendor: 'anthropic',
    wire: 'anthropic_messages',
    model: 'claude-sonnet-4-5',
    seal: /"signature"/,
  },
  { name: 'Google', vendor: 'google', wire: 'gemini', model: 'gemini-3-pro-preview', seal: /"thoughtSignature"/ },
] as const;

for (const { seal, ...vendor } of REASONING) {
  describe(`a window over reasoning on ${vendor.name}`, () => {
    it('sends encrypted reasoning while the entire conversation is stored, and drops it with a loss once the beginning is gone', async () => {
      const simulator = await startSimulator();
      try {
        const provider = new StatefulProvider({
          provider: simulatedProvider(simulator, vendor),
          store: new MemoryResponseStore(),
        });
        const reasoning = { effort: 'low' } as const;
        const turn = async (input: string, previous?: LLMResponse): Promise<LLMResponse> => {
          simulator.enqueue({ text: `to ${input}`, reasoning: `about ${input}` });
          const answer = await provider.generate('ann', {
            model: vendor.model,
            input,
            reasoning,
            store: true,
            ...(previous === undefined ? {} : { previous_response_id: previous.id }),
          });
          return answer;
        };
        const sent = (): string => JSON.stringify(simulator.requests.at(-1)?.body);
        const first = await turn('one');
        const second = await turn('two', first);
        expect(sent()).to.match(seal);
        expect(second.vendor.losses).to.deep.equal([]);
        await provider.deleteResponse('ann', first.id);
        const third = await turn('three', second);
        expect(sent()).not.to.match(seal);
        expect(sent()).to.contain('to two').and.not.to.contain('to one').and.not.to.contain('about two');
        expect(third.vendor.losses.map(({ what }) => what)).to.include('encrypted reasoning');
        simulator.assertDone();
      } finally {
        await simulator.close();
      }
    });
  });
}
