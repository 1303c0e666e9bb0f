import { runAreas } from '../groups.ts';

runAreas(['fuzz', 'upgrade']);
