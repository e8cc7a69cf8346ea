/** Claude Code runs tasks with its tools on providers of every wire, through the Messages API. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { AGENT_PROVIDERS, AgentHost, TOKEN } from './AgentHost';
import type { AgentExit, AgentProject } from './AgentHost';

interface PrintedResult {
  readonly is_error: boolean;
  readonly result: string;
  readonly num_turns: number;
  readonly session_id: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

describe('Claude Code', () => {
  let host: AgentHost;
  before(async () => {
    host = await AgentHost.start();
  });
  after(() => host.close());
  afterEach(() => host.simulator.assertDone());

  const run = (provider: string, project: AgentProject, ...args: string[]): Promise<AgentExit> =>
    host.run('@anthropic-ai/claude-code/cli-wrapper.cjs', ['-p', ...args, '--dangerously-skip-permissions'], project, {
      ANTHROPIC_BASE_URL: host.server.url,
      ANTHROPIC_AUTH_TOKEN: TOKEN,
      ANTHROPIC_API_KEY: '',
      ANTHROPIC_MODEL: `${provider}/main-model`,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: `${provider}/small-model`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Root may skip permissions in a sandbox only.
      IS_SANDBOX: '1',
    });

  for (const provider of AGENT_PROVIDERS) {
    it(`edits a file with parallel calls and reasoning, and continues the session, on ${provider}`, async () => {
      const project = await host.createProject(`claude-${provider}`);
      const greeting = join(project.project, 'greeting.txt');
      host.simulator.enqueue(
        {
          reasoning: 'I look at the file and count its words.',
          calls: [
            { name: 'Read', arguments: { file_path: greeting } },
            { name: 'Bash', arguments: { command: 'wc -w < greeting.txt', description: 'Counts words' } },
          ],
        },
        {
          calls: [{ name: 'Edit', arguments: { file_path: greeting, old_string: 'morning', new_string: 'evening' } }],
        },
        { text: 'The greeting is for the evening now.', usage: { input: 1_200, output: 34 } },
      );
      const first = await run(provider, project, 'Make it evening.', '--output-format', 'json');
      expect(first.code, first.stderr + first.stdout).to.equal(0);
      const printed = JSON.parse(first.stdout) as PrintedResult;
      expect(printed).to.include({ is_error: false, result: 'The greeting is for the evening now.', num_turns: 4 });
      expect(printed.usage.output_tokens).to.be.at.least(34);
      expect(await readFile(greeting, 'utf8')).to.equal('Good evening.\n');
      const [, withResults = '', withEdit = ''] = host.requests;
      expect(withResults).to.include('Good morning.').and.to.include('Make it evening.');
      expect(withEdit).to.include('has been updated');

      host.simulator.enqueue({ text: 'You are welcome.' });
      const second = await run(provider, project, 'Thank you.', '--resume', printed.session_id);
      expect(second.code, second.stderr + second.stdout).to.equal(0);
      expect(second.stdout.trim()).to.equal('You are welcome.');
      expect(host.requests).to.have.length(4);
      expect(host.requests[3]).to.include('The greeting is for the evening now.').and.to.include('Thank you.');
    });
  }

  it('reports the error of a model that does not exist', async () => {
    const project = await host.createProject('claude-unknown');
    const { code, stdout } = await run('nowhere', project, 'Hello.');
    expect(code).to.equal(1);
    expect(stdout).to.include('nowhere/main-model');
    expect(host.requests).to.deep.equal([]);
  });
});
