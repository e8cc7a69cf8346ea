/** Every vendor's row, by name. */
import type { VendorName } from '../../domain/types/VendorTypes';
import { anthropic } from './anthropic';
import { azureOpenAI } from './azureOpenAI';
import { google } from './google';
import { grok } from './grok';
import { groq } from './groq';
import { llama } from './llama';
import { openai } from './openai';
import { openAICompatible } from './openAICompatible';
import type { Vendor } from './Vendor';

export const VENDOR_ROWS: Readonly<Record<VendorName, Vendor>> = {
  openai,
  azure_openai: azureOpenAI,
  anthropic,
  google,
  grok,
  groq,
  llama,
  openai_compatible: openAICompatible,
};
