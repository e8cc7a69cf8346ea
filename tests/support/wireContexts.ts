/** Conversion contexts for a vendor and model, or for a vendor with a model that supports everything. */
import type { ResponseContext, Wire, WireContext } from '../../imports/business/ai/infrastructure/converters/Wire';
import type { ModelCapabilities } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { VendorName, VendorQuirks, WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import { capabilitiesOf } from '../../imports/business/ai/infrastructure/vendors/capabilities';
import { DEFAULT_QUIRKS } from '../../imports/business/ai/infrastructure/vendors/defaultQuirks';
import { VENDOR_ROWS } from '../../imports/business/ai/infrastructure/vendors/vendors';
import { anthropicWire } from '../../imports/business/ai/infrastructure/converters/anthropic/anthropicWire';
import { chatCompletionsWire } from '../../imports/business/ai/infrastructure/converters/chat/chatCompletionsWire';
import { googleWire } from '../../imports/business/ai/infrastructure/converters/google/googleWire';
import { interactionsWire } from '../../imports/business/ai/infrastructure/converters/interactions/interactionsWire';
import { responsesWire } from '../../imports/business/ai/infrastructure/converters/responses/responsesWire';
import { CAPABILITIES } from '../../imports/testing/capabilities';

export const WIRES: Readonly<Record<WireName, Wire>> = {
  responses: responsesWire,
  chat_completions: chatCompletionsWire,
  anthropic_messages: anthropicWire,
  gemini: googleWire,
  interactions: interactionsWire,
};

export interface ContextChanges {
  readonly quirks?: Partial<VendorQuirks>;
  readonly capabilities?: Partial<ModelCapabilities>;
}

export function wireContext(vendor: VendorName, model: string): WireContext {
  return { ...contextOf(vendor), capabilities: capabilitiesOf(vendor, model) };
}

export function responseContext(vendor: VendorName, model: string): ResponseContext {
  return withResponseFields(wireContext(vendor, model), { model });
}

export function contextOf(vendor: VendorName, { quirks, capabilities }: ContextChanges = {}): WireContext {
  return { vendor, quirks: quirksFor(vendor, quirks), capabilities: { ...CAPABILITIES, ...capabilities } };
}

export function withResponseFields(context: WireContext, changes: Partial<ResponseContext> = {}): ResponseContext {
  return { ...context, model: 'asked-model', warnings: [], losses: [], receivedAt: 1_760_000_000, ...changes };
}

export function quirksFor(vendor: VendorName, changes: Partial<VendorQuirks> = {}): VendorQuirks {
  return { ...DEFAULT_QUIRKS, ...VENDOR_ROWS[vendor].quirks, ...changes };
}
