/** Codex runs tasks with its tools on providers of every wire, through the Responses API over HTTP and WebSocket. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT_PROVIDERS, AgentHost, TOKEN } from './AgentHost';
import type { AgentExit, AgentProject } from './AgentHost';
import { CODEX, codexSettings } from './codexSettings';

/** Models of OpenAI that Codex knows, and offers tools of its own to, served by another vendor. */
const RULES = {
  'gpt-5.5': { targets: [{ model: 'anthropic/claude-sonnet-5-5' }] },
  'gpt-5.6-sol': { targets: [{ model: 'google/gemini-3-flash' }] },
};
const PATCH = `*** Begin Patch
*** Update File: greeting.txt
@@
-Good morning.
+Good evening.
*** End Patch
`;
const SCRIPT = `const result = await tools.exec_command({ cmd: 'sed -i s/morning/evening/ greeting.txt && cat greeting.txt' });
text(result);`;

describe('Codex', () => {
  let host: AgentHost;
  before(async () => {
    host = await AgentHost.start({ LLM_ROUTING: JSON.stringify(RULES) });
  });
  after(() => host.close());
  afterEach(() => host.simulator.assertDone());

  const run = (model: string, usesSockets: boolean, project: AgentProject, ...args: string[]): Promise<AgentExit> =>
    host.run(
      CODEX,
      [
        'exec',
        '--json',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        ...codexSettings(host.server.url, model, usesSockets),
        ...args,
      ],
      project,
      { BOLIDE_API_TOKEN: TOKEN, CODEX_HOME: project.home },
    );

  for (const provider of AGENT_PROVIDERS)
    for (const usesSockets of [false, true])
      it(`edits a file and continues, on ${provider} over ${usesSockets ? 'WebSocket' : 'HTTP'}`, async () => {
        const project = await host.createProject(`codex-${provider}-${usesSockets}`);
        host.simulator.enqueue(
          {
            reasoning: 'I look at the file and count its words.',
            calls: [
              { name: 'exec_command', arguments: { cmd: 'cat greeting.txt' } },
              { name: 'exec_command', arguments: { cmd: 'wc -w < greeting.txt' } },
            ],
          },
          { calls: [{ name: 'exec_command', arguments: { cmd: 'sed -i s/morning/evening/ greeting.txt' } }] },
          { text: 'The greeting is for the evening now.', usage: { input: 1_200, output: 34 } },
        );
        const first = await run(`${provider}/some-model`, usesSockets, project, 'Make it evening.');
        expect(first.code, first.stderr + first.stdout).to.equal(0);
        const events = readEvents(first);
        expect(itemsOf(events, 'agent_message')).to.deep.equal(['The greeting is for the evening now.']);
        // The two parallel commands may end in either order.
        expect(itemsOf(events, 'command_execution'), 'outputs').to.have.members(['Good morning.\n', '2\n', '']);
        expect(events.at(-1)?.type).to.equal('turn.completed');
        expect(events.at(-1)?.usage?.output_tokens).to.be.at.least(34);
        expect(await readFile(join(project.project, 'greeting.txt'), 'utf8')).to.equal('Good evening.\n');

        host.simulator.enqueue({ text: 'You are welcome.' });
        const second = await run(`${provider}/some-model`, usesSockets, project, 'resume', '--last', 'Thank you.');
        expect(second.code, second.stderr + second.stdout).to.equal(0);
        expect(itemsOf(readEvents(second), 'agent_message')).to.deep.equal(['You are welcome.']);
        expect(host.requests.at(-1)).to.include('The greeting is for the evening now.').and.to.include('Thank you.');
      });

  for (const [model, call] of [
    ['gpt-5.5', { name: 'apply_patch', arguments: { input: PATCH } }],
    ['gpt-5.6-sol', { name: 'functions__exec', arguments: { input: SCRIPT } }],
  ] as const)
    it(`edits a file by the custom tool that it offers to ${model}, which another vendor serves`, async () => {
      const project = await host.createProject(`codex-${model}`);
      host.simulator.enqueue({ calls: [call] }, { text: 'Done.' });
      const exit = await run(model, false, project, 'Make it evening.');
      expect(exit.code, exit.stderr + exit.stdout).to.equal(0);
      expect(itemsOf(readEvents(exit), 'agent_message')).to.deep.equal(['Done.']);
      expect(await readFile(join(project.project, 'greeting.txt'), 'utf8')).to.equal('Good evening.\n');
      expect(host.requests).to.have.length(2);
    });

  it('reports the error of a model that does not exist', async () => {
    const project = await host.createProject('codex-unknown');
    const exit = await run('nowhere/some-model', false, project, 'Hello.');
    expect(exit.code).to.equal(1);
    expect(exit.stdout).to.include('turn.failed').and.to.include('nowhere/some-model');
    expect(host.requests).to.deep.equal([]);
  });
});

interface CodexEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly text?: string; readonly aggregated_output?: string };
  readonly usage?: { readonly output_tokens: number };
}

function readEvents({ stdout }: AgentExit): readonly CodexEvent[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as CodexEvent);
}

/** Texts or outputs of the completed items of a type. */
function itemsOf(events: readonly CodexEvent[], type: string): readonly (string | undefined)[] {
  return events.flatMap((event) =>
    event.type === 'item.completed' && event.item?.type === type
      ? [event.item.text ?? event.item.aggregated_output]
      : [],
  );
}
