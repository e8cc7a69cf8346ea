import { expect } from 'chai';
import { nextStep } from '../../../../../imports/business/ai/domain/run/nextStep';
import { UnsupportedFeatureError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { HostedItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { callItem, response, textItem } from '../../../../../imports/testing/responses';

const NOTHING_OPEN = { running: 0, undelivered: 0 };
const [APPLY_PATCH, COMPUTER, LOCAL_SHELL, SHELL, CUSTOM, APPROVAL, TOOL_SEARCH]: readonly HostedItem[] = [
  { type: 'apply_patch_call', call_id: 'c1', operation: { type: 'delete_file', path: 'a.ts' } },
  { type: 'computer_call', call_id: 'c1', action: { type: 'screenshot' }, pending_safety_checks: [] },
  { type: 'local_shell_call', call_id: 'c1', action: { type: 'exec', command: ['ls'], env: {} } },
  { type: 'shell_call', call_id: 'c1', action: { commands: ['ls'] }, environment: { type: 'local' } },
  { type: 'custom_tool_call', call_id: 'c1', name: 'grep', input: 'x' },
  { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'maps', name: 'find', arguments: '{}' },
  { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: {} },
];

/** Calls that a client must answer, and what the error names. */
const CLIENT_CALLS: readonly (readonly [call: HostedItem, tool: RegExp, remedy: RegExp])[] = [
  [APPLY_PATCH!, /the tool "apply_patch"/, /remove the tool "apply_patch"/],
  [COMPUTER!, /the tool "computer_use"/, /remove the tool "computer_use"/],
  [LOCAL_SHELL!, /the tool "local_shell"/, /remove the tool "local_shell"/],
  [SHELL!, /the tool "shell"/, /remove the tool "shell"/],
  [{ ...SHELL!, environment: null }, /the tool "shell"/, /remove the tool "shell"/],
  [CUSTOM!, /the tool "grep"/, /remove the tool "grep"/],
  [APPROVAL!, /the tool "find" of the MCP server "maps"/, /"require_approval" .+ "never"/],
  [TOOL_SEARCH!, /the tool "tool_search"/, /remove the tool "tool_search"/],
];

/** Calls that the vendor has executed itself. */
const EXECUTED: Readonly<Record<string, readonly HostedItem[]>> = {
  'a search of X by xAI': [{ ...CUSTOM!, call_id: 'xs_call-1', name: 'x_keyword_search' }],
  'a page that a search of xAI opened': [{ ...CUSTOM!, call_id: 'ws_call-1', name: 'browse_page' }],
  'a command in a container': [{ ...SHELL!, environment: { type: 'container_reference', container_id: 'cntr_1' } }],
  'a command with its output': [
    { ...SHELL!, environment: null },
    { type: 'shell_call_output', call_id: 'c1', output: [] },
  ],
  'a search of tools on the server': [{ ...TOOL_SEARCH!, call_id: null, execution: 'server' }],
  'a web search': [{ type: 'web_search_call', id: 'ws_1' }],
};

describe('nextStep', () => {
  for (const [call, tool, remedy] of CLIENT_CALLS) {
    const { environment } = call;
    it(`stops at the ${call.type} of a client${environment === null ? ' without an environment' : ''}`, () => {
      const step = nextStep(response({ output: [{ ...call, status: 'completed' }] }), NOTHING_OPEN);
      if (step.kind !== 'stop') return expect.fail(`The step is ${step.kind}.`);
      expect(step.error).to.be.instanceOf(UnsupportedFeatureError).and.to.include({ code: 'unsupported-feature' });
      expect(step.error.message).to.include(call.type).and.to.match(tool).and.to.match(remedy);
      return expect(step.error.message).to.match(/through the Responses API of the gateway/);
    });
  }

  it('runs no function beside the call of a client, whose answer the next request would lack', () => {
    const output = [callItem({ name: 'erase' }), CUSTOM!, textItem('I try both.')];
    expect(nextStep(response({ output }), NOTHING_OPEN)).to.have.property('kind', 'stop');
  });

  for (const [what, calls] of Object.entries(EXECUTED))
    it(`goes on after ${what}`, () => {
      const executed = calls.map((call) => ({ ...call, status: 'completed' }));
      const call = callItem({ name: 'look' });
      expect(nextStep(response({ output: executed }), NOTHING_OPEN)).to.have.property('kind', 'answer');
      expect(nextStep(response({ output: [...executed, call] }), NOTHING_OPEN)).to.deep.equal({
        kind: 'use-tools',
        calls: [call],
      });
    });
});
