/**
 * Bolide as an application uses it, with every feature on: argument checks, events, the state machine, limits, the
 * retry policy, and run records.
 */
import type { createAIModule, LLMInput, ToolRegistry } from 'bolide';
import { MODELS, TOOL } from '../Contender';
import type { Contender, Setting } from '../Contender';

interface BolideModule {
  readonly createAIModule: typeof createAIModule;
  readonly ToolRegistry: typeof ToolRegistry;
}

export function bolide(
  module: BolideModule,
  { wire, baseURL, workload, weather }: Setting,
): Contender & Required<Pick<Contender, 'send'>> {
  const vendor = wire === 'anthropic' ? 'anthropic' : 'openai';
  const model = `${vendor}/${MODELS[wire]}`;
  const tools = new module.ToolRegistry().register(
    workload.needs === 'idle' ? ENDLESS : { ...TOOL, execute: (args) => weather(args) },
  );
  const { manager, loop, useCases } = module.createAIModule(
    {
      providers: [
        {
          id: vendor,
          vendor,
          apiKey: 'bench',
          baseURL,
          allowPrivateHosts: true,
          ...(wire === 'chat' ? { wire: 'chat_completions' } : {}),
        },
      ],
    },
    { tools },
  );
  const actor = { userId: 'bench', source: 'job' } as const;
  const maxIterations = Math.max(100, 2 * (workload.turns ?? 0));
  let requests = 0;
  return {
    ask: async (input) => (await manager.generate('bench', { model, input })).output_text,
    async stream(input) {
      let length = 0;
      for await (const event of manager.stream('bench', { model, input }))
        if (event.type === 'response.output_text.delta') length += event.delta.length;
      return length;
    },
    async loop(input) {
      requests += 1;
      const request = {
        requestId: `request-${requests}`,
        providerId: vendor,
        model: MODELS[wire],
        input,
        tools: [TOOL.name],
        maxIterations,
      };
      return (await useCases.agenticExecution.execute(actor, request)).output_text;
    },
    send: async (history) =>
      (await manager.generate('bench', { model, input: history as LLMInput, tools: [{ type: 'function', ...TOOL }] }))
        .output_text,
    async idle(input) {
      await loop.execute('bench', { model, input, tools: [TOOL.name], onPending: 'return' });
    },
  };
}

/** A non-blocking tool whose result never arrives. */
const ENDLESS = { ...TOOL, blocking: false, timeout: 3_600_000, execute: () => new Promise(() => undefined) };
