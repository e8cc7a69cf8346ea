/** English prose and JSON average about four characters per token with every vendor's tokenizer. */
export const CHARACTERS_PER_TOKEN = 4;
