/** Builds the smallest request in a vendor's format that names an object at a path of `STORED_OBJECT_FIELDS`. */
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { RequestForm } from '../../imports/business/ai/infrastructure/vendors/storedObjectFields';

/** What surrounds the named object. */
const BASES: Readonly<Record<RequestForm, () => JsonObject>> = {
  responses: () => ({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] }),
  chat_completions: () => ({ messages: [{ role: 'user', content: 'Hi' }] }),
  anthropic_messages: () => ({ max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  gemini: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
  interactions: () => ({ input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }] }),
  media: () => ({ prompt: 'A cat.' }),
};

/** What `**` stands for, and what a step needs around it. */
const NESTED: Readonly<Record<string, (inner: JsonObject) => JsonObject>> = {
  'responses input': (inner) => ({ type: 'message', role: 'user', content: [{ type: 'input_file', ...inner }] }),
  'chat_completions messages': (inner) => ({ role: 'user', content: [{ type: 'file', file: inner }] }),
  'anthropic_messages messages': (inner) => ({
    role: 'user',
    content: [{ type: 'document', source: { type: 'file', ...inner } }],
  }),
  'anthropic_messages system': (inner) => ({ type: 'document', source: { type: 'file', ...inner } }),
  'interactions input': (inner) => ({ type: 'user_input', content: [{ type: 'document', ...inner }] }),
  'gemini contents': (inner) => ({ role: 'user', parts: [inner] }),
  'gemini systemInstruction': (inner) => ({ parts: [inner] }),
  'gemini tools': (inner) => ({ googleMaps: { authConfig: inner } }),
};

export function requestNaming(form: RequestForm, path: string, id: string): JsonObject {
  const base = BASES[form]();
  const [first = ''] = path.split('.');
  const root = first.replace(/\W.*$/, '');
  const named = build(form, root, path.split('.'), /[.](?:fileUri|uri)$/.test(path) ? `gs://${id}` : id);
  const value = named[root];
  // The conversation goes on after what the path puts into it.
  const own = base[root];
  if (Array.isArray(value) && Array.isArray(own))
    return { ...base, [root]: [...(value as unknown[]), ...(own as unknown[])] };
  return { ...base, ...named };
}

function build(form: RequestForm, root: string, [step = '', ...rest]: readonly string[], id: string): JsonObject {
  const { name = step, list, type } = /^(?<name>\w+)(?<list>\[\])?(?:<(?<type>\w+)[\w|]*>)?$/.exec(step)?.groups ?? {};
  const inner = (): unknown => {
    const following = rest[0]?.startsWith('!') === true ? rest.slice(1) : rest;
    if (following.length === 0) return id;
    if (following[0] === '**') return NESTED[`${form} ${root}`]!(build(form, root, following.slice(1), id));
    const built = build(form, root, following, id);
    return type === undefined
      ? { ...TYPED[`${root} ${following[0] ?? ''}`], ...built }
      : { ...FIELDS[type], type, ...built };
  };
  const value = inner();
  return { [name === '*' ? 'any' : name]: list === undefined ? value : [value] };
}

/** What a vendor requires of an object of this type besides its id. */
const FIELDS: Readonly<Partial<Record<string, JsonObject>>> = {
  code_interpreter_call: { id: 'ci_1', status: 'completed', code: '1', outputs: [] },
  custom: {},
};
const CODE_INTERPRETER = { type: 'code_interpreter' };
const TYPED: Readonly<Partial<Record<string, JsonObject>>> = {
  'tools vector_store_ids[]': { type: 'file_search' },
  'tools collection_ids[]': { type: 'file_search' },
  'tools container': CODE_INTERPRETER,
  'tools environment': { type: 'shell' },
  'tools input_image_mask': { type: 'image_generation' },
  'tools file_id': { type: 'file_search' },
  'tools file_ids[]': { type: 'file_search' },
  'tools connector_id': { type: 'mcp', server_label: 'x' },
  'tools project_connection_id': { type: 'mcp', server_label: 'x', server_url: 'https://mcp.example.com' },
  'tools tunnel_id': { type: 'mcp', server_label: 'x' },
  'tools tools[]': { type: 'namespace', name: 'x' },
  'input tools[]': { type: 'additional_tools', role: 'developer' },
  'input environment': {
    type: 'shell_call',
    call_id: 'c',
    id: 'sh_1',
    status: 'completed',
    action: { commands: ['ls'] },
  },
  'messages audio': { role: 'assistant' },
  'thread previous_message_id': { type: 'continue' },
  'audio voice': { format: 'wav' },
};
