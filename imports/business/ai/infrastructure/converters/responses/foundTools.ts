/**
 * Adds found tools to a conversation by items that carry their definitions.
 * https://developers.openai.com/api/docs/guides/tools-tool-search#add-tools-at-a-specific-point-in-the-input
 */
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { VendorQuirks } from '../../../domain/types/VendorTypes';
import type { FoundToolsForm } from '../shared/foundTools';
import type { WireContext } from '../Wire';
import { toTools } from './request/tools';

/** @returns undefined for a model that is not known to take such items */
export function responsesFoundTools(model: string, context: WireContext): FoundToolsForm | undefined {
  const { vendor, quirks, capabilities } = context;
  if (quirks.additionalTools === undefined || !new RegExp(quirks.additionalTools, 'i').test(model)) return undefined;
  const { supportsAsyncTools: nativeAsync } = capabilities;
  const forms = nativeAsync ? formsOfAsync : formsOfOthers;
  const known = forms.get(quirks);
  if (known !== undefined) return known;
  const form: FoundToolsForm = {
    list: (listed) => listed,
    announce: (tools) => {
      const definitions = toTools(tools, { vendor, quirks, nativeAsync }, []);
      // The cast is safe: items of the vendor are open objects with a type.
      return { type: 'additional_tools', role: 'developer', tools: definitions } as unknown as InputItem;
    },
  };
  forms.set(quirks, form);
  return form;
}

/** One per vendor, so that what is written for a conversation is found again. */
const formsOfAsync = new WeakMap<VendorQuirks, FoundToolsForm>();
const formsOfOthers = new WeakMap<VendorQuirks, FoundToolsForm>();
