import { createHttpData } from 'bolide/vue';

export const data = createHttpData();
