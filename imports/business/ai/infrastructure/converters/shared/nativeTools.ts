/**
 * Offers functions in the form of a vendor's own tool, where the vendor has it. Calls of such a tool become calls of
 * the function, and keep the form in which the vendor wrote them; their outputs are written in the tool's form.
 */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import type { NormalizedOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import type { NativeTool, NativeToolType } from '../../../domain/types/NativeTool';
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  InputItem,
  OutputItem,
} from '../../../domain/types/ResponsesAPITypes';
import type { Origin } from '../../../domain/types/VendorTypes';
import { isObject } from '../../../domain/util/json';
import { RestoredCalls } from './restoredCalls';
import { restoreItems } from './RewrittenTools';
import type { RewrittenTools } from './RewrittenTools';

/** One tool in the form of one wire. */
export interface NativeForm {
  /** @returns what is offered in place of the function; undefined: the model needs no offer */
  offer(tool: FunctionTool, native: NativeTool): Tool | undefined;
  /** @returns undefined for an item that is no call of the tool */
  readCall(item: OutputItem, tool: FunctionTool): NativeCallFields | undefined;
  /** @param call absent if only the vendor has it */
  writeOutput(output: FunctionCallOutputItem, call: OutputItem | undefined): readonly InputItem[];
}

export interface NativeCallFields {
  readonly call_id: string;
  /** The function's arguments: a JSON text, or what the model wrote in place of one. */
  readonly arguments: string;
}

export type NativeForms = Partial<Record<NativeToolType, NativeForm>>;

/** @returns undefined if no tool of the request has a form here */
export function offerNativeTools(
  options: NormalizedOptions,
  formsOf: () => NativeForms,
  origin: Origin,
): RewrittenTools | undefined {
  const { tools = [], input, tool_choice: choice } = options;
  if (!tools.some((tool) => isFunctionTool(tool) && tool.native !== undefined)) return undefined;
  const forms = formsOf();
  const offers = new Map<FunctionTool, NativeOffer>();
  for (const tool of tools) {
    const offer = offerOf(tool, tools, forms);
    if (offer !== undefined) offers.set(offer.tool, offer);
  }
  if (offers.size === 0) return undefined;
  const names = new Map(Array.from(offers.values(), (offer) => [offer.tool.name, offer]));
  const calls = new NativeCalls(names, origin);
  const streamed = new RestoredCalls((item) => calls.read(item));
  const offered = tools.flatMap((tool) => (isFunctionTool(tool) ? (offers.get(tool)?.offered ?? [tool]) : [tool]));
  return {
    options: {
      ...options,
      tools: offered,
      input: calls.write(input),
      ...(typeof choice === 'object' ? { tool_choice: chooseNative(choice, names) } : {}),
    },
    restoreResponse: (response) => restoreItems(response, (item) => calls.read(item) ?? item),
    restoreEvent: (event) => streamed.inEvent(event),
  };
}

interface NativeOffer {
  readonly tool: FunctionTool;
  /** Absent: the vendor has no such tool, and the model is told of none. */
  readonly form: NativeForm | undefined;
  readonly offered: readonly Tool[];
}

/** @returns undefined for a tool that is offered as it is */
function offerOf(tool: Tool, tools: readonly Tool[], forms: NativeForms): NativeOffer | undefined {
  if (!isFunctionTool(tool) || tool.native === undefined) return undefined;
  const form = forms[tool.native.type];
  // A vendor that lacks approvals asks for none.
  if (form === undefined) return tool.native.type === 'mcp_approval' ? { tool, form, offered: [] } : undefined;
  const offered = form.offer(tool, tool.native);
  const isTaken = offered !== undefined && tools.some((other) => other !== tool && isNamedLike(other, offered));
  return isTaken ? undefined : { tool, form, offered: offered === undefined ? [] : [offered] };
}

function isNamedLike(other: Tool, { name }: Tool): boolean {
  return name !== undefined && other.name === name;
}

/** A call as its vendor wrote it. */
interface WrittenCall {
  readonly form: NativeForm;
  readonly call: OutputItem;
}

class NativeCalls {
  private readonly names: ReadonlyMap<string, NativeOffer>;
  private readonly origin: Origin;

  constructor(names: ReadonlyMap<string, NativeOffer>, origin: Origin) {
    this.names = names;
    this.origin = origin;
  }

  read(item: OutputItem): FunctionCallItem | undefined {
    for (const { tool, form } of this.names.values()) {
      const fields = form?.readCall(item, tool);
      if (fields === undefined) continue;
      const isIncomplete = 'status' in item && item.status === 'incomplete';
      return {
        type: 'function_call',
        ...fields,
        name: tool.name,
        status: isIncomplete ? 'incomplete' : 'completed',
        native: { origin: this.origin, item },
      };
    }
    return undefined;
  }

  /** Calls without an output stay calls of functions, whose outputs are made up where they are missing. */
  write(input: readonly InputItem[]): readonly InputItem[] {
    if (!input.some((item) => item.type === 'function_call' || item.type === 'function_call_output')) return input;
    const answered = new Set(input.flatMap((item) => (isAnswer(item) ? [item.call_id] : [])));
    const forms = new Map<string, WrittenCall>();
    const called = new Set<string>();
    return input.flatMap((item): readonly InputItem[] => {
      if (item.type === 'function_call') {
        called.add(item.call_id);
        const native = answered.has(item.call_id) ? this.nativeOf(item) : undefined;
        if (native === undefined) return [item];
        forms.set(item.call_id, native);
        return [native.call];
      }
      if (!isAnswer(item)) return [item];
      const known = forms.get(item.call_id);
      if (known !== undefined) return writeOutput(known.form, item, known.call);
      // The vendor stores the call.
      const form = called.has(item.call_id) ? undefined : this.names.get(item.name ?? '')?.form;
      return form === undefined ? [item] : writeOutput(form, item, undefined);
    });
  }

  /** @returns undefined for a call that goes to the vendor as a function's */
  private nativeOf({ name, call_id, native }: FunctionCallItem): WrittenCall | undefined {
    const form = this.names.get(name)?.form;
    // Boundary: callers may write any fields into a history.
    if (form === undefined || !isObject(native) || !isObject(native.item) || !isObject(native.origin)) return undefined;
    const { wire, vendor } = native.origin;
    if (wire !== this.origin.wire || vendor !== this.origin.vendor) return undefined;
    const { item } = native;
    // A run gives a call whose id it has seen before another one.
    const isRenamed = 'call_id' in item && item.call_id !== call_id;
    return { form, call: isRenamed ? { ...item, call_id } : item };
  }
}

function isAnswer(item: InputItem): item is FunctionCallOutputItem {
  return item.type === 'function_call_output' && item.deferred !== true;
}

/** Outputs are immutable and sent again with every turn, so each is written once. */
const written = new WeakMap<
  FunctionCallOutputItem,
  { readonly form: NativeForm; readonly items: readonly InputItem[] }
>();

function writeOutput(
  form: NativeForm,
  output: FunctionCallOutputItem,
  call: OutputItem | undefined,
): readonly InputItem[] {
  const known = written.get(output);
  if (known?.form === form) return known.items;
  const items = form.writeOutput(output, call);
  written.set(output, { form, items });
  return items;
}

type Named = { readonly type: string; readonly name?: string };

function chooseNative(
  choice: Exclude<ToolChoice, string>,
  names: ReadonlyMap<string, NativeOffer>,
): Exclude<ToolChoice, string> {
  const chosen = (each: Named): Named => {
    const [offered] = (each.type === 'function' && names.get(each.name ?? '')?.offered) || [];
    if (offered === undefined) return each;
    return isFunctionTool(offered) || typeof offered.name === 'string'
      ? { type: offered.type, name: String(offered.name) }
      : { type: offered.type };
  };
  if (choice.type === 'allowed_tools' && 'tools' in choice) return { ...choice, tools: choice.tools.map(chosen) };
  // The cast is safe: the choice of a tool has its type and perhaps its name.
  return chosen(choice) as Exclude<ToolChoice, string>;
}
