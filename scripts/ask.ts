/** Sends a question from the terminal: `npm run ask -- "…"`. `--help` lists the options. */
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Command } from '@commander-js/extra-typings';
import { generateStructured } from '../imports/business/ai/application/services/structured/StructuredOutput';
import type { ModelAnswer } from '../imports/business/ai/application/services/routing/completeTurn';
import type { RunResult } from '../imports/business/ai/domain/entities/Run';
import { isExternalTool } from '../imports/business/ai/domain/entities/Tool';
import { isLLMError, LLMInvalidRequestError } from '../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEvent } from '../imports/business/ai/domain/types/AgentEvents';
import type { GenerateOptions } from '../imports/business/ai/domain/types/LLMTypes';
import type { Usage } from '../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../imports/business/ai/domain/types/VendorTypes';
import type { AIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { moduleFromEnvironment } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';

async function main(): Promise<void> {
  await new Command('npm run ask --')
    .argument('<question...>')
    .option('--provider <name>', 'asks this provider; default: LLM_PROVIDER, or the first one with a key')
    .option('--model <name>', "asks this model of the provider's")
    .option('--tools', 'offers the demo tools')
    .option('--json <schema>', 'asks for JSON of this schema: a file, or the schema itself')
    .option('--stream', 'prints the answer while it is generated')
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action((words, { json, ...options }) => answer(words.join(' '), json, options))
    .parseAsync();
}

interface AskOptions {
  readonly provider?: string;
  readonly model?: string;
  readonly tools?: true;
  readonly stream?: true;
}

async function answer(question: string, json: string | undefined, options: AskOptions): Promise<void> {
  const schema = json === undefined ? undefined : await readSchema(json);
  const { module, simulator } = await moduleFromEnvironment(process.env);
  try {
    if (simulator !== undefined) console.error(SIMULATION_NOTICE);
    const provider = options.provider ?? module.settings.defaultProvider ?? [...module.providers.keys()][0] ?? '';
    if (!module.providers.has(provider)) {
      throw new LLMInvalidRequestError(
        `Unknown provider "${provider}". Expected one of: ${[...module.providers.keys()].join(', ')}.`,
        { path: '--provider' },
      );
    }
    await ask(module, {
      question,
      model: options.model === undefined ? provider : `${provider}/${options.model}`,
      schema,
      tools: options.tools === true,
      stream: options.stream === true,
    });
  } finally {
    await simulator?.close();
  }
}

interface Question {
  readonly question: string;
  readonly model: string;
  readonly schema: JsonObject | undefined;
  readonly tools: boolean;
  readonly stream: boolean;
}

async function ask(module: AIModule, { question, model, schema, tools, stream }: Question): Promise<void> {
  const { settings, loop, manager } = module;
  loop.on('event', (event) => show(event, module));
  const options = {
    model,
    input: question,
    ...(settings.systemPrompt === undefined ? {} : { instructions: settings.systemPrompt }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  };
  const names = tools ? module.tools.tools.filter((tool) => !isExternalTool(tool)).map(({ name }) => name) : [];
  let result: RunResult | undefined;
  const run = async (request: GenerateOptions): Promise<RunResult> =>
    (result = await loop.execute('terminal', { ...request, model, stream, tools: names }));
  if (schema === undefined) await run(options);
  else
    await generateStructured({
      generate: async (request) => asAnswer(await run(request)),
      options,
      schema,
      capabilities: manager.getCapabilities(model),
    });
  if (stream) process.stdout.write('\n');
  else console.log(result?.response.output_text);
  if (result !== undefined) summarise(result);
}

function asAnswer({ response, transcript, usage }: RunResult): ModelAnswer {
  return { response, conversation: transcript, usage };
}

/** Tool calls and notices go to standard error, so that standard output holds only the response and can be piped. */
function show(event: AgentEvent, module: AIModule): void {
  switch (event.type) {
    case 'llm:delta':
      if (event.kind === 'text') process.stdout.write(event.delta);
      return;
    case 'tool:pending':
      console.error(`  → ${event.name}(${event.arguments})${event.blocking ? '' : ' in the background'}`);
      return;
    case 'tool:progress':
      console.error(
        `  … ${event.name} ${Math.round(event.fraction * 100)} %${event.note === undefined ? '' : ` ${event.note}`}`,
      );
      return;
    case 'tool:completed':
      console.error(`  ✓ ${event.name} (${event.executionTime} ms): ${event.result.slice(0, 300)}`);
      return;
    case 'tool:failed':
    case 'tool:timeout':
      console.error(`  ✗ ${event.name}: ${event.error.message}`);
      return;
    case 'nonblocking:result':
      console.error(`  ↩ ${event.callIds.length} late result(s) sent to the model`);
      return;
    case 'tool:approval_required':
      decide(event, module).catch((error: unknown) => console.error(error));
      return;
    default:
  }
}

async function decide(
  event: Extract<AgentEvent, { type: 'tool:approval_required' }>,
  { loop }: AIModule,
): Promise<void> {
  if (!process.stdin.isTTY) {
    await loop.reject(
      event.executionId,
      event.callId,
      'Not approved: standard input is not a terminal.',
      event.argumentsHash,
    );
    return;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`  ? Approve ${event.name}(${event.arguments})? [y/N] `);
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) await loop.approve(event.executionId, event.callId, event.argumentsHash);
  else await loop.reject(event.executionId, event.callId, 'The user rejected the call.', event.argumentsHash);
}

function summarise({ usage, iterations, toolCalls, response }: RunResult): void {
  const parts = [
    `${response.vendor.name} ${response.model}`,
    `${iterations} model call(s)`,
    `${toolCalls.length} tool call(s)`,
    tokens(usage),
  ];
  console.error(`— ${parts.join(' · ')}`);
  for (const warning of response.vendor.warnings) console.error(`  warning: ${warning}`);
}

function tokens({ input_tokens, output_tokens, input_tokens_details, output_tokens_details }: Usage): string {
  const cached = input_tokens_details.cached_tokens > 0 ? `, ${input_tokens_details.cached_tokens} cached` : '';
  const reasoning =
    output_tokens_details.reasoning_tokens > 0 ? `, ${output_tokens_details.reasoning_tokens} reasoning` : '';
  return `${input_tokens} tokens in${cached}, ${output_tokens} out${reasoning}`;
}

/** @param path a file's path, or the schema itself */
async function readSchema(path: string): Promise<JsonObject> {
  const isInline = path.trimStart().startsWith('{');
  const text = isInline
    ? path
    : await readFile(path, 'utf8').catch((cause: unknown) => {
        throw new LLMInvalidRequestError(
          `Cannot read the schema: ${cause instanceof Error ? cause.message : String(cause)}.`,
          { cause, path: '--json' },
        );
      });
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as JsonObject;
  } catch (cause) {
    throw new LLMInvalidRequestError(
      `The schema is not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        cause,
        path: '--json',
      },
    );
  }
  throw new LLMInvalidRequestError('The schema must be a JSON object.', { path: '--json' });
}

main().catch((error: unknown) => {
  console.error(isLLMError(error) ? `${error.code}: ${error.message}` : error);
  process.exitCode = 1;
});
