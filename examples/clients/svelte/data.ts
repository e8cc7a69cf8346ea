import { createHttpData } from 'bolide/svelte';

export const data = createHttpData();
