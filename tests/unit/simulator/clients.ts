/** The vendors' own SDKs, pointed at a simulator. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenerativeAI } from '@google/generative-ai';
import type { GenerativeModel, ModelParams } from '@google/generative-ai';
import Groq from 'groq-sdk';
import OpenAI, { AzureOpenAI } from 'openai';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../../imports/simulator/Simulator';

export const GOOD_KEY = 'good-key';

export function openaiClient(simulator: Simulator, vendor: VendorName = 'openai', apiKey = GOOD_KEY): OpenAI {
  return new OpenAI({ apiKey, baseURL: simulator.baseURL(vendor), maxRetries: 0 });
}

export function azureClient(simulator: Simulator, apiKey = GOOD_KEY, apiVersion = '2024-10-21'): AzureOpenAI {
  return new AzureOpenAI({
    apiKey,
    baseURL: simulator.baseURL('azure_openai'),
    apiVersion,
    maxRetries: 0,
  });
}

export function anthropicClient(simulator: Simulator, apiKey = GOOD_KEY): Anthropic {
  return new Anthropic({ apiKey, baseURL: simulator.baseURL('anthropic'), maxRetries: 0 });
}

export function groqClient(simulator: Simulator, apiKey = GOOD_KEY): Groq {
  return new Groq({ apiKey, baseURL: simulator.baseURL('groq'), maxRetries: 0 });
}

export function geminiModel(simulator: Simulator, params: ModelParams, apiKey = GOOD_KEY): GenerativeModel {
  return new GoogleGenerativeAI(apiKey).getGenerativeModel(params, { baseUrl: simulator.baseURL('google') });
}

/** Collects an async iterable. */
export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** Returns the error that a promise rejects with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<Error & { readonly status?: number }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('It was expected to fail.');
}

export const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

export const POPULATION = {
  name: 'get_population',
  description: 'How many people live in a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
} as const;

export const RECIPE_SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    minutes: { type: 'integer' },
    spicy: { type: 'boolean' },
    steps: { type: 'array', items: { type: 'string' } },
  },
  required: ['title', 'minutes', 'spicy', 'steps'],
  additionalProperties: false,
} as const;
