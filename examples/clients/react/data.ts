import { createHttpData } from 'bolide/react';

export const data = createHttpData();
