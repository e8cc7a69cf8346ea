import * as valibot from 'valibot';
import { dynamicTool, jsonSchema, tool, UnsupportedFunctionalityError } from 'ai';
import type { ToolSet } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type {
  FunctionCallOutputItem,
  InputItem,
} from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { fromAISDKTools } from '../../../../../imports/interop/aiSdk/tools/fromAISDKTools';
import { agent } from '../../../../../imports/library/Agent';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import { nextTurn } from '../../../../support/nextTurn';

interface Played {
  /** What the model received for the call. */
  readonly output: FunctionCallOutputItem;
  readonly events: readonly { readonly type: string }[];
  readonly provider: ScriptedProvider;
}

/** A run in which the model calls the tool `t` once and answers. */
async function play(tools: ToolSet, args: unknown, toolsContext: Record<string, unknown> = {}): Promise<Played> {
  const provider = new ScriptedProvider([calling({ name: 't', arguments: args, call_id: 'call_1' }), answer('Done.')]);
  const run = agent({ provider, tools: fromAISDKTools(tools, { toolsContext }) }).stream('go');
  const events: AgentEvent[] = [];
  for await (const event of run.events) {
    events.push(event);
    if (event.type === 'tool:approval_required') await run.approve('call_1');
  }
  const input = provider.calls[1]!.options.input as readonly InputItem[];
  const output = input.find((item): item is FunctionCallOutputItem => item.type === 'function_call_output');
  return { output: output!, events, provider };
}

const city = { city: 'Rome' };
const execute = ({ city: name }: { city: string }): string => `clear in ${name}`;

describe('fromAISDKTools', () => {
  const schemas = {
    zod: tool({ inputSchema: z.object({ city: z.string() }), execute }),
    valibot: tool({ inputSchema: valibot.object({ city: valibot.string() }) as never, execute }),
    'jsonSchema()': tool({
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      execute,
    }),
    'a lazy schema': tool({
      inputSchema: () =>
        jsonSchema<{ city: string }>({
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        }),
      execute,
    }),
    'dynamicTool()': dynamicTool({
      inputSchema: z.object({ city: z.string() }),
      execute: (input) => Promise.resolve(execute(input as { city: string })),
    }),
  } as const;
  for (const [name, t] of Object.entries(schemas)) {
    it(`offers and runs a tool with ${name}`, async () => {
      const { output, provider } = await play({ t }, city);
      expect(output.output).to.equal('clear in Rome');
      const [offered] = provider.calls[0]!.options.tools!;
      expect(offered).to.have.nested.property('parameters.properties.city.type', 'string');
    });

    it(`rejects arguments that violate ${name}`, async () => {
      const { output } = await play({ t }, { city: 5 });
      expect(output.state).to.equal('failed');
      expect(output.output).to.include('city');
    });
  }

  it('applies the transformations and checks of a schema with its own validation', async () => {
    const inputSchema = jsonSchema<{ n: number }>(
      { type: 'object', properties: { n: { type: 'number' } } },
      {
        validate: (value) => {
          const { n } = value as { n: number };
          return n < 10
            ? { success: true, value: { n: n * 2 } }
            : { success: false, error: new Error('n is too large') };
        },
      },
    );
    const t = tool({ inputSchema, execute: ({ n }) => ({ n }) });
    expect((await play({ t }, { n: 4 })).output.output).to.equal('{"n":8}');
    expect((await play({ t }, { n: 40 })).output.output).to.include('n is too large');
  });

  it('reports preliminary results as progress, and returns the last one', async () => {
    const t = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield { done: 1 };
        await nextTurn();
        yield 'half';
        yield { done: 3 };
      },
    });
    const { output, events } = await play({ t }, {});
    expect(output.output).to.equal('{"done":3}');
    expect(
      events.filter(({ type }) => type === 'tool:progress').map((event) => (event as { note?: string }).note),
    ).to.deep.equal(['{"done":1}', 'half']);
  });

  it('passes the id of the call, its signal and the context of the tool', async () => {
    const seen: unknown[] = [];
    const t = tool({
      description: ({ context }) => `For ${context.team}`,
      inputSchema: z.object({}),
      contextSchema: z.object({ team: z.string() }),
      onInputStart: ({ toolCallId }) => {
        seen.push(['start', toolCallId]);
      },
      onInputAvailable: ({ input, toolCallId }) => {
        seen.push(['available', input, toolCallId]);
      },
      execute: (_input, { toolCallId, abortSignal, messages, context }) => {
        seen.push([toolCallId, abortSignal?.aborted, messages, context]);
        return 'ok';
      },
    });
    const { provider } = await play({ t }, {}, { t: { team: 'blue' } });
    expect(seen).to.deep.equal([
      ['start', 'call_1'],
      ['available', {}, 'call_1'],
      ['call_1', false, [], { team: 'blue' }],
    ]);
    expect(provider.calls[0]!.options.tools![0]).to.include({ description: 'For blue' });
  });

  it('asks for an approval if the rule demands one', async () => {
    const rule: unknown[] = [];
    const t = tool({
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: ({ amount }, { toolCallId }) => {
        rule.push([amount, toolCallId]);
        return amount > 10;
      },
      execute: ({ amount }) => `paid ${amount}`,
    });
    const small = await play({ t }, { amount: 5 });
    expect(small.events.map(({ type }) => type)).not.to.include('tool:approval_required');
    const large = await play({ t }, { amount: 50 });
    expect(large.events.map(({ type }) => type)).to.include('tool:approval_required');
    expect(large.output.output).to.equal('paid 50');
    expect(rule).to.deep.equal([
      [5, 'call_1'],
      [50, 'call_1'],
    ]);
  });

  it('applies toModelOutput', async () => {
    const outputs = [
      [{ type: 'text', value: 'short' }, 'short', undefined],
      [{ type: 'json', value: { a: 1 } }, '{"a":1}', undefined],
      [{ type: 'error-text', value: 'broken' }, 'broken', 'failed'],
      [{ type: 'error-json', value: { why: 1 } }, '{"why":1}', 'failed'],
      [{ type: 'execution-denied', reason: 'not today' }, 'not today', 'failed'],
      [
        {
          type: 'content',
          value: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
        'a\nb',
        undefined,
      ],
      [
        { type: 'content', value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aa' } }] },
        '"file" parts are not supported',
        'failed',
      ],
    ] as const;
    for (const [modelOutput, text, state] of outputs) {
      const t = tool({
        inputSchema: z.object({}),
        execute: () => ({ long: true }),
        toModelOutput: ({ output, toolCallId }) => {
          expect([output, toolCallId]).to.deep.equal([{ long: true }, 'call_1']);
          return modelOutput as never;
        },
      });
      const { output } = await play({ t }, {});
      expect(output.output, modelOutput.type).to.include(text);
      expect(output.state === 'failed', modelOutput.type).to.equal(state === 'failed');
    }
  });

  it('makes a tool without a function external', () => {
    const t = tool({ inputSchema: z.object({}), outputSchema: z.string() });
    expect(fromAISDKTools({ t })[0]).to.include({ name: 't', kind: 'external' });
  });

  it('takes provider-defined tools that Bolide has', () => {
    const search = {
      type: 'provider',
      isProviderExecuted: true,
      id: 'anthropic.web_search_20250305',
      args: { maxUses: 2, allowedDomains: ['a.example'] },
      inputSchema: z.object({}),
      outputSchema: z.unknown(),
    } as const;
    expect(fromAISDKTools({ search })).to.deep.equal([
      { type: 'web_search', max_uses: 2, allowed_domains: ['a.example'] },
    ]);
  });

  it('refuses other provider-defined tools by name', () => {
    const schemas = { inputSchema: z.object({}), outputSchema: z.unknown(), args: {} };
    const refused = [
      { type: 'provider', isProviderExecuted: true, id: 'acme.teleport', ...schemas },
      { type: 'provider', isProviderExecuted: false, id: 'anthropic.bash_20250124', ...schemas },
    ] as const;
    for (const t of refused) {
      let thrown: unknown;
      try {
        fromAISDKTools({ t });
      } catch (error) {
        thrown = error;
      }
      expect(UnsupportedFunctionalityError.isInstance(thrown), t.id).to.equal(true);
      expect(thrown).to.include({ functionality: `provider-defined tool "${t.id}"` });
    }
  });
});
