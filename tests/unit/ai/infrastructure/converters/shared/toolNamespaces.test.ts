import { expect } from 'chai';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import type { Tool } from '../../../../../../imports/business/ai/domain/entities/Tool';
import type { GenerateOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { RewrittenTools } from '../../../../../../imports/business/ai/infrastructure/converters/shared/RewrittenTools';
import { flattenNamespaces } from '../../../../../../imports/business/ai/infrastructure/converters/shared/toolNamespaces';

function group(name: string, ...members: readonly string[]): Tool {
  const tools = members.map((member) => ({ type: 'function', name: member, parameters: { type: 'object' } }));
  // Boundary: a tool that only the Responses API has.
  return { type: 'namespace', name, description: name, tools } as unknown as Tool;
}

function flatten(options: Partial<GenerateOptions>): RewrittenTools {
  const flattened = flattenNamespaces(normalizeOptions({ model: 'm', input: 'Hi', ...options }));
  if (flattened === undefined) throw new Error('Nothing was flattened.');
  return flattened;
}

function namesOf({ options }: RewrittenTools): readonly unknown[] {
  return (options.tools ?? []).map(({ name }) => name);
}

function restored(flattened: RewrittenTools, name: string): unknown {
  const item = { type: 'function_call', call_id: 'c', name, arguments: '{}' } as const;
  const [event] = flattened.restoreEvent({ type: 'response.tool_use.done', output_index: 0, item });
  return event?.type === 'response.tool_use.done' ? event.item : undefined;
}

describe('flattenNamespaces', () => {
  it('leaves requests without namespaces alone', () => {
    const options = normalizeOptions({ model: 'm', input: 'Hi', tools: [{ type: 'function', name: 'f' }] });
    expect(flattenNamespaces(options)).to.equal(undefined);
  });

  it('restores namespace and name of every call', () => {
    const flattened = flatten({ tools: [group('crm', 'find', 'add'), group('mail', 'find')] });
    expect(namesOf(flattened)).to.deep.equal(['crm__find', 'crm__add', 'mail__find']);
    expect(restored(flattened, 'mail__find')).to.include({ namespace: 'mail', name: 'find' });
    expect(restored(flattened, 'other')).to.not.have.property('namespace');
  });

  it('gives names that are too long, invalid or taken a form that is the same in every turn', () => {
    const long = 'a'.repeat(60);
    const tools = [group('mcp.files', long, 'x.y'), { type: 'function', name: 'a__b' } as const, group('a', 'b')];
    const first = flatten({ tools });
    const names = namesOf(first) as readonly string[];
    expect(new Set(names).size).to.equal(4);
    for (const name of names) expect(name).to.match(/^[\w-]{1,64}$/);
    expect(namesOf(flatten({ tools }))).to.deep.equal(names);
    expect(restored(first, names[0]!)).to.include({ namespace: 'mcp.files', name: long });
    expect(restored(first, names[3]!)).to.include({ namespace: 'a', name: 'b' });
  });

  it('flattens calls of the conversation and the choice of tools', () => {
    const call = { type: 'function_call', call_id: 'c', namespace: 'crm', name: 'find', arguments: '{}' } as const;
    const output = { type: 'function_call_output', call_id: 'c', output: 'x' } as const;
    const { options } = flatten({
      input: [{ role: 'user', content: 'Hi' }, call, output],
      tools: [group('crm', 'find', 'add')],
      tool_choice: {
        type: 'allowed_tools',
        tools: [
          { type: 'namespace', name: 'crm' },
          { type: 'function', name: 'find' },
        ],
      },
    });
    expect(options.input[1]).to.deep.include({ name: 'crm__find' }).and.not.have.property('namespace');
    expect(options.tool_choice).to.deep.include({
      tools: [
        { type: 'function', name: 'crm__find' },
        { type: 'function', name: 'crm__add' },
        { type: 'function', name: 'crm__find' },
      ],
    });
  });

  it('flattens a choice of one tool', () => {
    const tools = [group('crm', 'find')];
    expect(flatten({ tools, tool_choice: { type: 'function', name: 'find' } }).options.tool_choice).to.deep.equal({
      type: 'function',
      name: 'crm__find',
    });
  });
});
